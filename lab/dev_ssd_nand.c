// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dies.
 *
 * A die does one thing at a time. Reads are taken in order of arrival and each holds it for the
 * sensing time, unless the page is still in the register from the read before. Programs are taken
 * from the write buffer, round robin over the dies, at most one on each; a read that finds its die
 * programming waits for the end, or, where the flash can suspend, suspend_ns, and the program ends
 * later by the time that the reads took. After MAX_SUSPENDS reads a program is left alone, so that
 * writes progress.
 *
 * When erase_programs programs have filled a block of the die, the next program erases first.
 *
 * Stalls (stall=1): beside what the host causes, each die is out of service now and then, as if the
 * controller moved, refreshed or retried there: intervals are exponential with mean stall_every,
 * durations uniform between stall_min and stall_max, all seeded. They go on while the drive is
 * idle; nothing is simulated until somebody asks for the die.
 */
#include "lab/dev_ssd.h"

enum {
	MAX_SUSPENDS = 8,
	MOVE_READS = 2, /* a collector's program gathers from two pages on average */
};

static uint64_t hash(uint64_t x)
{
	x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

uint32_t ssd_die_of(const struct ssd *s, uint64_t unit)
{
	/*
	 * Neighbours lie on different dies, so that a stream keeps all of them busy; where a row of
	 * all dies begins is random.
	 */
	uint32_t row = (uint32_t)unit / s->nr_dies, column = (uint32_t)unit % s->nr_dies;
	uint32_t turn = (uint32_t)((hash(row ^ s->salt) >> 32) * s->nr_dies >> 32);
	uint32_t die = column + turn;

	return die < s->nr_dies ? die : die - s->nr_dies;
}

static uint64_t stall_interval(struct ssd *s)
{
	return lab_rng_exp(&s->stall_rng, s->stall_every_ns) + 1;
}

/* Stalls that began before `at` hold the die first. */
static uint64_t after_stalls(struct ssd *s, struct ssd_die *die, uint64_t at)
{
	while (s->stall && die->stall_at_ns <= at) {
		uint64_t end = die->stall_at_ns + s->stall_min_ns +
			       lab_rng_below(&s->stall_rng, s->stall_span_ns + 1);

		at = end > at ? end : at;
		die->stall_at_ns = end + stall_interval(s);
	}
	return at;
}

uint64_t ssd_die_read(struct ssd *s, uint32_t nr, uint64_t unit, uint64_t now)
{
	struct ssd_die *die = &s->die[nr];
	uint64_t start = now > die->read_free_ns ? now : die->read_free_ns, asked = start;

	if (die->unit == unit)
		return die->unit_ready_ns > now ? die->unit_ready_ns : now;
	if (start < die->program_end_ns) {
		if (s->suspend_ns && die->suspends < MAX_SUSPENDS) {
			die->suspends++;
			start = weir_min64(start + s->suspend_ns, die->program_end_ns);
		} else {
			start = die->program_end_ns;
		}
	}
	start = after_stalls(s, die, start);
	die->read_free_ns = start + s->read_ns;
	if (asked < die->program_end_ns && start < die->program_end_ns)
		die->program_end_ns += die->read_free_ns - asked;
	die->unit = unit;
	die->unit_ready_ns = die->read_free_ns;
	return die->read_free_ns;
}

/* ---- programs ---- */

static void start_program(struct ssd *s, struct ssd_die *die, uint64_t hold_ns, uint64_t now)
{
	uint64_t start = now > die->read_free_ns ? now : die->read_free_ns;

	if (!die->programs_left--) {
		die->programs_left = s->preset->erase_programs - 1;
		hold_ns += s->erase_ns;
	}
	die->programming = true;
	s->nr_programming++;
	die->suspends = 0;
	die->unit = SSD_UNIT_NONE;
	die->program_end_ns = after_stalls(s, die, start) + hold_ns;
	lab_event_at(s->dev.engine, &die->program_done, die->program_end_ns);
}

static void program_done(struct lab_event *ev, uint64_t now)
{
	struct ssd_die *die = dev_container(ev, struct ssd_die, program_done);
	struct ssd *s = die->ssd;

	if (die->program_end_ns > now) { /* reads came between */
		lab_event_at(s->dev.engine, ev, die->program_end_ns);
		return;
	}
	die->programming = false;
	s->nr_programming--;
	if (!die->moving)
		ssd_programmed(s, die->epoch, die->pages, now);
	ssd_program(s, now);
}

static struct ssd_die *idle_die(struct ssd *s)
{
	struct ssd_die *die;

	if (s->nr_programming == s->nr_dies)
		return NULL;
	do {
		die = &s->die[s->next_die];
		if (++s->next_die == s->nr_dies)
			s->next_die = 0;
	} while (die->programming);
	return die;
}

/* The oldest epoch that has enough for a program, or is closed and has something. */
static struct ssd_epoch *ready_epoch(struct ssd *s, uint64_t *nr)
{
	uint64_t i;

	for (i = s->first_epoch; i <= s->open_epoch; i++) {
		struct ssd_epoch *ep = &s->epoch[i & s->epoch_mask];

		if (ep->waiting >= s->preset->program_pages || (ep->waiting && i < s->open_epoch)) {
			*nr = i;
			return ep;
		}
	}
	return NULL;
}

static bool program_one(struct ssd *s, uint64_t now)
{
	bool move = s->moves >> FTL_RATIO_SHIFT;
	struct ssd_epoch *ep = NULL;
	struct ssd_die *die;
	uint64_t nr = 0;

	if (!move)
		ep = ready_epoch(s, &nr);
	if (!move && !ep)
		return false;
	die = idle_die(s);
	if (!die)
		return false;
	die->moving = move;
	if (move) {
		s->moves -= UINT64_C(1) << FTL_RATIO_SHIFT;
		start_program(s, die, MOVE_READS * s->read_ns + s->program_ns, now);
		return true;
	}
	die->epoch = nr;
	die->pages = ep->waiting < s->preset->program_pages ? ep->waiting
							    : s->preset->program_pages;
	ep->waiting -= die->pages;
	s->moves += s->ftl.moves_per_write * die->pages / s->preset->program_pages;
	start_program(s, die, s->program_ns, now);
	return true;
}

void ssd_program(struct ssd *s, uint64_t now)
{
	while (program_one(s, now))
		;
}

void ssd_nand_init(struct ssd *s, uint32_t channels, uint32_t dies, uint64_t seed)
{
	struct lab_rng rng;
	uint32_t i;

	lab_rng_seed(&rng, seed, UINT64_C(0x6e616e64));
	lab_rng_seed(&s->stall_rng, seed, UINT64_C(0x7374616c6c));
	s->salt = lab_rng_u64(&rng);
	s->nr_dies = dies;
	s->die = dev_zalloc(dies, sizeof(*s->die));
	s->channel_free_ns = dev_zalloc(channels, sizeof(*s->channel_free_ns));
	for (i = 0; i < dies; i++) {
		struct ssd_die *die = &s->die[i];

		die->ssd = s;
		die->channel = i % channels;
		die->unit = SSD_UNIT_NONE;
		/* Blocks fill at different times, or all dies would erase at once. */
		die->programs_left = (uint32_t)lab_rng_below(&rng, s->preset->erase_programs);
		die->stall_at_ns = s->stall ? stall_interval(s) : 0;
		lab_event_init(&die->program_done, program_done);
	}
}

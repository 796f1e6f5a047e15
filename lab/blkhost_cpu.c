// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU time under the queue lock. Each scheduler call (an insertion with its merge look-up, a
 * question for the next request, a completion) holds the lock for host_ns; calls queue behind each
 * other in order of arrival, and take effect when their time is over. With host_ns = 0 none of this
 * is used: calls happen at once and there are no events.
 */
#include "lab/blkhost.h"

static void perform(struct lab_host *h, struct host_work *work, uint64_t now_ns)
{
	struct host_rq *r = weir_container_of(work, struct host_rq, work);

	switch (work->call) {
	case HOST_INSERT:
		if (r->bio)
			host_insert(h, r, now_ns);
		else
			weir_insert(h->weir, &r->rq, WEIR_TAIL, now_ns);
		host_cpu_dispatch(h, now_ns);
		break;
	case HOST_COMPLETE:
		host_complete(h, r, now_ns);
		break;
	case HOST_DISPATCH:
		h->dispatch_queued = false;
		if (host_dispatch_one(h, now_ns))
			host_cpu_dispatch(h, now_ns);
		break;
	}
}

/* The call at the head of the line is over. */
static void lock_free(struct lab_event *ev, uint64_t now_ns)
{
	struct lab_host *h = weir_container_of(ev, struct lab_host, cpu);
	struct host_work *work = h->work;

	h->work = work->next;
	perform(h, work, now_ns);
	if (h->work)
		lab_event_at(h->engine, &h->cpu, now_ns + h->host_ns);
	else
		h->lock_busy = false;
	if (h->recording)
		host_record_pump(h);
}

void host_cpu_init(struct lab_host *h)
{
	lab_event_init(&h->cpu, lock_free);
	h->dispatch.call = HOST_DISPATCH;
}

void host_cpu_call(struct lab_host *h, struct host_work *work, enum host_call call, uint64_t now_ns)
{
	work->call = call;
	work->next = NULL;
	if (h->work)
		h->work_tail->next = work;
	else
		h->work = work;
	h->work_tail = work;
	if (!h->lock_busy) {
		h->lock_busy = true;
		lab_event_at(h->engine, &h->cpu, now_ns + h->host_ns);
	}
}

/* Somebody thinks that a request could go: one question stands in line at most. */
void host_cpu_dispatch(struct lab_host *h, uint64_t now_ns)
{
	if (h->dispatch_queued || h->device->in_flight >= h->depth ||
	    !weir_may_dispatch(h->weir, now_ns))
		return;
	h->dispatch_queued = true;
	host_cpu_call(h, &h->dispatch, HOST_DISPATCH, now_ns);
}

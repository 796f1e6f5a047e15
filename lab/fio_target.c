// SPDX-License-Identifier: GPL-2.0-only
/* Setters of the options that say who does I/O, how, on what, and from when on. */
#include <inttypes.h>
#include <string.h>

#include "lab/fio_option.h"
#include "lab/groups_build.h"

/* fio's own range; beyond it the file works here and not there. */
enum {
	FIO_WEIGHT_MIN = 100,
	FIO_WEIGHT_MAX = 1000,
};

int fio_set_name(struct fio_parser *p, struct fio_job *j, char *value)
{
	if (!*value)
		return fio_expected(p, "a name is accepted");
	j->job.name = value;
	return 0;
}

/* ---- ioengine ---- */

enum engine_kind {
	ENGINE_SYNC,
	ENGINE_ASYNC,
	ENGINE_NONE,  /* no I/O to a disk */
	ENGINE_OTHER, /* I/O to something that is no local disk */
};

static const struct {
	const char *name;
	enum engine_kind kind;
	const char *cannot_run;
} engines[] = {
	{"sync", ENGINE_SYNC, NULL},
	{"psync", ENGINE_SYNC, NULL},
	{"vsync", ENGINE_SYNC, NULL},
	{"pvsync", ENGINE_SYNC, NULL},
	{"pvsync2", ENGINE_SYNC, NULL},
	{"mmap", ENGINE_SYNC, NULL},
	{"sg", ENGINE_SYNC, NULL},
	{"libaio", ENGINE_ASYNC, NULL},
	{"io_uring", ENGINE_ASYNC, NULL},
	{"io_uring_cmd", ENGINE_ASYNC, NULL},
	{"posixaio", ENGINE_ASYNC, NULL},
	{"solarisaio", ENGINE_ASYNC, NULL},
	{"windowsaio", ENGINE_ASYNC, NULL},
	{"guasi", ENGINE_ASYNC, NULL},
	{"syslet-rw", ENGINE_ASYNC, NULL},
	{"null", ENGINE_NONE, "ioengine=null does no I/O"},
	{"cpp_null", ENGINE_NONE, "ioengine=cpp_null does no I/O"},
	{"cpuio", ENGINE_NONE, "ioengine=cpuio uses CPU time and does no I/O"},
	{"exec", ENGINE_NONE, "ioengine=exec runs a program"},
	{"filecreate", ENGINE_NONE, "ioengine=filecreate does metadata operations only"},
	{"filestat", ENGINE_NONE, "ioengine=filestat does metadata operations only"},
	{"filedelete", ENGINE_NONE, "ioengine=filedelete does metadata operations only"},
	{"dircreate", ENGINE_NONE, "ioengine=dircreate does metadata operations only"},
	{"dirstat", ENGINE_NONE, "ioengine=dirstat does metadata operations only"},
	{"dirdelete", ENGINE_NONE, "ioengine=dirdelete does metadata operations only"},
	{"ftruncate", ENGINE_NONE, "ioengine=ftruncate does metadata operations only"},
	{"falloc", ENGINE_NONE, "ioengine=falloc does metadata operations only"},
	{"e4defrag", ENGINE_NONE, "ioengine=e4defrag moves blocks of an ext4 file system"},
	{"splice", ENGINE_NONE, "ioengine=splice moves data through pipes, which the lab lacks"},
	{"net", ENGINE_OTHER, "ioengine=net does network I/O"},
	{"netsplice", ENGINE_OTHER, "ioengine=netsplice does network I/O"},
	{"rdma", ENGINE_OTHER, "ioengine=rdma does network I/O"},
	{"librpma_apm_client", ENGINE_OTHER, "ioengine=librpma_apm_client does network I/O"},
	{"librpma_apm_server", ENGINE_OTHER, "ioengine=librpma_apm_server does network I/O"},
	{"librpma_gpspm_client", ENGINE_OTHER, "ioengine=librpma_gpspm_client does network I/O"},
	{"librpma_gpspm_server", ENGINE_OTHER, "ioengine=librpma_gpspm_server does network I/O"},
	{"nbd", ENGINE_OTHER, "ioengine=nbd does its I/O on a server"},
	{"nfs", ENGINE_OTHER, "ioengine=nfs does its I/O on a server"},
	{"http", ENGINE_OTHER, "ioengine=http does its I/O on a server"},
	{"rados", ENGINE_OTHER, "ioengine=rados does its I/O on a server"},
	{"rbd", ENGINE_OTHER, "ioengine=rbd does its I/O on a server"},
	{"dfs", ENGINE_OTHER, "ioengine=dfs does its I/O on a server"},
	{"gfapi", ENGINE_OTHER, "ioengine=gfapi does its I/O on a server"},
	{"gfapi_async", ENGINE_OTHER, "ioengine=gfapi_async does its I/O on a server"},
	{"glusterfs", ENGINE_OTHER, "ioengine=glusterfs does its I/O on a server"},
	{"libhdfs", ENGINE_OTHER, "ioengine=libhdfs does its I/O on a server"},
	{"ime_psync", ENGINE_OTHER, "ioengine=ime_psync does its I/O on a server"},
	{"ime_psyncv", ENGINE_OTHER, "ioengine=ime_psyncv does its I/O on a server"},
	{"ime_aio", ENGINE_OTHER, "ioengine=ime_aio does its I/O on a server"},
	{"libiscsi", ENGINE_OTHER, "ioengine=libiscsi does its I/O on a server"},
	{"dev-dax", ENGINE_OTHER, "ioengine=dev-dax is for persistent memory"},
	{"libpmem", ENGINE_OTHER, "ioengine=libpmem is for persistent memory"},
	{"pmemblk", ENGINE_OTHER, "ioengine=pmemblk is for persistent memory"},
	{"mtd", ENGINE_OTHER, "ioengine=mtd is for raw flash chips"},
	{"libzbc", ENGINE_OTHER, "ioengine=libzbc is for zoned devices"},
	{"libcufile", ENGINE_OTHER, "ioengine=libcufile is for memory of a GPU"},
	{"xnvme", ENGINE_OTHER, "ioengine=xnvme goes past the kernel's block layer"},
	{"spdk", ENGINE_OTHER, "ioengine=spdk goes past the kernel's block layer"},
	{"libblkio", ENGINE_OTHER, "ioengine=libblkio goes past the kernel's block layer"},
	{"external", ENGINE_OTHER, "ioengine=external loads an engine that the lab doesn't know"},
};

int fio_set_engine(struct fio_parser *p, struct fio_job *j, char *value)
{
	char *rest = value, *name = fio_field(&rest, ":");
	size_t i, nr = sizeof(engines) / sizeof(engines[0]);

	if (!*name)
		return fio_expected(p,
				    "the name of an engine is accepted, such as psync or libaio");
	for (i = 0; i < nr && strcmp(name, engines[i].name) != 0; i++)
		;
	/* fio takes a path as an engine to load, and refuses other names that it doesn't know. */
	if (i == nr && !strchr(name, '/'))
		return fio_expected(p, "the name of an engine of fio is accepted, such as psync, "
				       "libaio or io_uring");
	j->engine_cannot_run = i < nr ? engines[i].cannot_run
				      : "ioengine= loads an engine that the lab doesn't know";
	j->job.async = i < nr && engines[i].kind == ENGINE_ASYNC;
	return 0;
}

/* ---- files ---- */

/* Cuts the first name off a list in which "\:" stands for a colon. */
static char *take_filename(char **rest)
{
	char *from = *rest, *to = from, *name = from;

	for (; *from && *from != ':'; from++) {
		if (from[0] == '\\' && from[1] == ':')
			from++;
		*to++ = *from;
	}
	*rest = *from ? from + 1 : NULL;
	*to = '\0';
	return fio_trim(name);
}

/* Below /dev lie devices; but in /dev/shm files, in memory. */
static bool names_device(const char *name)
{
	return !strncmp(name, "/dev/", 5) && strncmp(name, "/dev/shm/", 9) != 0;
}

int fio_set_filename(struct fio_parser *p, struct fio_job *j, char *value)
{
	char *rest = value, *name;

	j->nr_names = 0;
	while (rest) {
		name = take_filename(&rest);
		if (!*name)
			return fio_expected(p, "names with : between them are accepted");
		if (!j->nr_names++) {
			j->job.filename = name;
			j->job.on_device = names_device(name);
		}
	}
	return 0;
}

/* A range means a random size for each file in fio; the lab lays out all of the larger size. */
int fio_set_filesize(struct fio_parser *p, struct fio_job *j, char *value)
{
	char *rest = value, *low = fio_field(&rest, *value == '(' ? "" : "-:");
	uint64_t min, max;

	if (!fio_number(low, j->kb_1000, &min) || min < 1)
		goto expected;
	max = min;
	if (rest && (!fio_number(fio_trim(rest), j->kb_1000, &max) || max < 1))
		goto expected;
	j->job.filesize = min > max ? min : max;
	if (min != max)
		fio_note(p, p->at, "filesize: all files have the larger size of the range");
	return 0;
expected:
	return fio_expected(p, "a size of at least 1 is accepted, or two with - between them");
}

int fio_set_offset_increment(struct fio_parser *p, struct fio_job *j, char *value)
{
	size_t nr = strlen(value);
	char unit = nr ? value[nr - 1] : '\0';

	if (unit == '%' || unit == 'z' || unit == 'Z') {
		value[nr - 1] = '\0';
		if (!j->job.cannot_run)
			j->job.cannot_run = "offset_increment is given in percent or zones: the "
					    "lab takes bytes";
	}
	if (!fio_number(value, j->kb_1000, &j->job.offset_increment))
		return fio_expected(p, "a size is accepted, such as 4096, 64k or 1g");
	return 0;
}

int fio_set_startdelay(struct fio_parser *p, struct fio_job *j, char *value)
{
	char *rest = value, *low = fio_field(&rest, *value == '(' ? "" : "-:,");
	uint64_t min, max, second = UINT64_C(1000000000);

	if (!fio_time(low, second, &min))
		goto expected;
	max = min;
	if (rest && !fio_time(fio_trim(rest), second, &max))
		goto expected;
	j->job.startdelay_ns = min < max ? min : max;
	j->job.startdelay_max_ns = min < max ? max : min;
	return 0;
expected:
	return fio_expected(p, "a time is accepted, or two with - between them, such as 10s, 500ms "
			       "or 1-5; without a unit it is seconds");
}

int fio_set_zonemode(struct fio_parser *p, struct fio_job *j, char *value)
{
	if (!strcmp(value, "none"))
		return 0;
	if (strcmp(value, "strided") != 0 && strcmp(value, "zbd") != 0)
		return fio_expected(p, "none, strided or zbd is accepted");
	if (!j->job.cannot_run)
		j->job.cannot_run = *value == 's' ? "zonemode=strided is not in the lab"
						  : "zonemode=zbd needs a zoned device";
	return 0;
}

/* ---- groups ---- */

int fio_set_cgroup(struct fio_parser *p, struct fio_job *j, char *value)
{
	const char *accept;

	if (!*value)
		return fio_expected(p, "a path is accepted, such as a or a/b");
	accept = group_path(p->pool, value, &j->job.cgroup);
	if (accept)
		return fio_expected(p, "%s", accept);
	j->job.cgroup_line = p->at->line;
	return 0;
}

int fio_set_cgroup_weight(struct fio_parser *p, struct fio_job *j, char *value)
{
	uint64_t weight;

	if (!fio_number(value, j->kb_1000, &weight) || weight < WEIR_WEIGHT_MIN ||
	    weight > WEIR_WEIGHT_MAX)
		return fio_expected(p, "a whole number from %d to %d is accepted", WEIR_WEIGHT_MIN,
				    WEIR_WEIGHT_MAX);
	if ((weight < FIO_WEIGHT_MIN || weight > FIO_WEIGHT_MAX) && !p->weight_noted) {
		p->weight_noted = true;
		fio_note(p, p->at, "cgroup_weight=%" PRIu64 " is fine here; fio takes %d to %d",
			 weight, FIO_WEIGHT_MIN, FIO_WEIGHT_MAX);
	}
	j->job.has_weight = true;
	j->job.cgroup_weight = (uint32_t)weight;
	j->job.weight_line = p->at->line;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Groups of a run: from jobs, from the groups file, and from both. */
#include "lab/groups.h"
#include "tests/fio_util.h"

static struct lab_groups *build(const char *job_text, const char *ini)
{
	struct lab_jobs *jobs = job_text ? parse(job_text) : NULL;
	struct lab_groups *groups;
	char err[600];

	groups = lab_groups_build_text(jobs, ini, "g.ini", err, sizeof(err));
	if (!groups)
		fail_msg("%s", err);
	lab_jobs_free(jobs);
	return groups;
}

static void build_refused(const char *job_text, const char *ini, const char *complaint)
{
	struct lab_jobs *jobs = job_text ? parse(job_text) : NULL;
	struct lab_groups *groups;
	char err[600] = "";

	groups = lab_groups_build_text(jobs, ini, "g.ini", err, sizeof(err));
	lab_jobs_free(jobs);
	if (groups)
		fail_msg("accepted: %s%s", job_text ? job_text : "", ini);
	if (strcmp(err, complaint) != 0)
		fail_msg("\"%s\" instead of \"%s\"", err, complaint);
}

static const struct lab_group_spec *at(const struct lab_groups *groups, const char *path)
{
	int index = lab_groups_find(groups, path);

	if (index < 0)
		fail_msg("no group %s", path);
	return &groups->group[index];
}

static void the_root_alone(void **state)
{
	struct lab_groups *groups = build(NULL, NULL);

	(void)state;
	assert_int_equal(groups->nr, 1);
	assert_string_equal(groups->group[0].path, "");
	assert_int_equal(groups->group[0].attr.weight, WEIR_WEIGHT_DEFAULT);
	assert_int_equal(lab_groups_find(groups, ""), 0);
	assert_int_equal(lab_groups_find(groups, "a"), -1);
	lab_groups_free(groups);
	lab_groups_free(NULL);
}

static void from_jobs(void **state)
{
	struct lab_groups *groups =
		build("[global]\nsize=1m\n[x]\ncgroup=a/b/c\ncgroup_weight=300\n"
		      "[y]\ncgroup=a\n[z]\ncgroup_weight=7\nnumjobs=3\n[none]\n"
		      "[w]\ncgroup=/a/b/c\ncgroup_weight=300\n[v]\ncgroup=a/b/d\n",
		      NULL);
	static const char *const order[] = {"", "a", "a/b", "a/b/c", "z", "a/b/d"};
	unsigned int i;

	(void)state;
	/* Parents before children, each in the order in which it was named first. */
	assert_int_equal(groups->nr, 6);
	for (i = 0; i < 6; i++) {
		assert_string_equal(groups->group[i].path, order[i]);
		assert_int_equal(lab_groups_find(groups, order[i]), i);
	}
	assert_int_equal(at(groups, "a/b/c")->attr.weight, 300);
	assert_true(at(groups, "a/b/c")->weight_set);
	assert_string_equal(at(groups, "a/b/c")->weight_file, "t.fio");
	assert_int_equal(at(groups, "a/b/c")->weight_line, 5);
	assert_int_equal(at(groups, "a/b")->attr.weight, 100);
	assert_false(at(groups, "a/b")->weight_set);
	assert_int_equal(at(groups, "z")->attr.weight, 7);
	lab_groups_free(groups);

	build_refused(
		"[global]\nsize=1m\n[x]\ncgroup=a\ncgroup_weight=300\n[y]\ncgroup=/a\n"
		"cgroup_weight=301\n",
		NULL,
		"t.fio:8: cgroup_weight=301: one weight a group is accepted, and t.fio:5 gives "
		"\"a\" 300");
	/* Whatever a group is called, the complaint is one line of plain text. */
	build_refused("[global]\nsize=1m\n[x]\ncgroup=a\xff\xfe\ncgroup_weight=1\n[y]\n"
		      "cgroup=a\xff\xfe\ncgroup_weight=2\n",
		      NULL,
		      "t.fio:8: cgroup_weight=2: one weight a group is accepted, and t.fio:5 gives "
		      "\"a??\" 1");
	/* Two sections of one name, without a group of their own. */
	build_refused("[global]\nsize=1m\n[x]\ncgroup_weight=1\n[x]\ncgroup_weight=2\n", NULL,
		      "t.fio:6: cgroup_weight=2: one weight a group is accepted, and t.fio:4 gives "
		      "\"x\" 1");
}

static void from_the_file(void **state)
{
	struct lab_groups *groups =
		build(NULL, "; all keys, in all forms\n"
			    "[/]\nio.weight.own = 50\nio.max=rbps=max wbps=5000000000\n\n"
			    "# parents come with their children\r\n"
			    "[/db/main] ; main\r\n"
			    "\tio.weight = default 200\r\n"
			    "  io.weight.own=8:0 7   # of its own\n"
			    "io.max = 8:16 rbps=1048576 wiops=120 ; both\n"
			    "io.low=rbps=1000 riops=10\n"
			    "io.latency: 259:0 target=75000\n"
			    "[low]\nio.max=wbps=18446744073709551614\nio.low=wiops=0\n");
	const struct weir_group_attr *a = &at(groups, "db/main")->attr;

	(void)state;
	assert_int_equal(groups->nr, 4);
	assert_int_equal(a->weight, 200);
	assert_int_equal(a->own_weight, 7);
	assert_int_equal(a->max.bps[WEIR_READ], 1048576);
	assert_true(a->max.bps[WEIR_WRITE] == WEIR_UNLIMITED);
	assert_true(a->max.iops[WEIR_READ] == WEIR_UNLIMITED);
	assert_int_equal(a->max.iops[WEIR_WRITE], 120);
	assert_int_equal(a->low.bps[WEIR_READ], 1000);
	assert_int_equal(a->low.iops[WEIR_READ], 10);
	assert_int_equal(a->low.bps[WEIR_WRITE], 0);
	assert_int_equal(a->latency_target_ns, 75000000);
	assert_string_equal(at(groups, "db/main")->weight_file, "g.ini");
	assert_int_equal(at(groups, "db/main")->weight_line, 8);
	assert_int_equal(groups->group[0].attr.own_weight, 50);
	assert_int_equal(groups->group[0].attr.max.bps[WEIR_WRITE], 5000000000);
	assert_int_equal(at(groups, "db")->attr.weight, 100);
	assert_true(at(groups, "low")->attr.max.bps[WEIR_WRITE] == UINT64_MAX - 1);
	lab_groups_free(groups);
}

static void file_over_jobs(void **state)
{
	static const char jobs[] = "[x]\nsize=1m\ncgroup=a/b\ncgroup_weight=300\n"
				   "[y]\nsize=1m\ncgroup=c\n";
	struct lab_groups *groups = build(jobs, "[a/b]\nio.weight=300\nio.max=riops=9\n"
						"[c]\nio.weight=5\n[d]\n");

	(void)state;
	assert_int_equal(groups->nr, 5);
	assert_int_equal(at(groups, "a/b")->attr.weight, 300);
	assert_string_equal(at(groups, "a/b")->weight_file, "t.fio");
	assert_int_equal(at(groups, "a/b")->attr.max.iops[WEIR_READ], 9);
	assert_int_equal(at(groups, "c")->attr.weight, 5);
	assert_int_equal(at(groups, "d")->attr.weight, 100);
	lab_groups_free(groups);
	build_refused(jobs, "[a/b]\nio.weight=301\n",
		      "g.ini:2: io.weight=301: one value is accepted, and t.fio:4 gives another");
}

/* A section may come in parts, and repeat itself, and not contradict itself. */
static void sections_again(void **state)
{
	struct lab_groups *groups = build(NULL, "[a]\nio.weight=5\n[b]\n[/a]\nio.weight=5\n"
						"io.low=wbps=7\n[a]\nio.low=8:0 wbps=7 rbps=0\n");

	(void)state;
	assert_int_equal(groups->nr, 3);
	assert_int_equal(at(groups, "a")->attr.weight, 5);
	assert_int_equal(at(groups, "a")->weight_line, 2);
	assert_int_equal(at(groups, "a")->attr.low.bps[WEIR_WRITE], 7);
	lab_groups_free(groups);
	build_refused(NULL, "[a]\nio.weight=5\n[b]\n[a]\nio.weight=6\n",
		      "g.ini:5: io.weight=6: one value is accepted, and g.ini:2 gives another");
	build_refused(NULL, "[a]\nio.max=rbps=5\nio.max=wbps=5\n",
		      "g.ini:3: io.max=wbps=5: one value is accepted, and g.ini:2 gives another");
	build_refused(NULL, "[a]\nio.latency=target=5\nio.latency=target=6\n",
		      "g.ini:3: io.latency=target=6: one value is accepted, and g.ini:2 gives "
		      "another");
	build_refused(NULL, "[/]\nio.weight.own=5\n[/]\nio.weight.own=6\n",
		      "g.ini:4: io.weight.own=6: one value is accepted, and g.ini:2 gives another");
}

static void refused_values(void **state)
{
	static const char rates[] =
		"rbps=, wbps=, riops= and wiops= are accepted, with blanks between "
		"them and MAJ:MIN before them or not";
	static const char weights[] = "a weight from 1 to 10000 is accepted";
	static const char target[] = "target= is accepted with microseconds from 1 to 3600000000; "
				     "without io.latency there is no target";
	static const char ceiling[] = "a whole number per second is accepted, or max";
	static const char floor[] = "a whole number per second is accepted; 0 is no floor";
	static const struct {
		const char *key, *value, *accept;
	} rows[] = {
		{"io.weight", "0", weights},
		{"io.weight", "10001", weights},
		{"io.weight", "-1", weights},
		{"io.weight", "", weights},
		{"io.weight", "default", weights},
		{"io.weight", "8:16", weights},
		{"io.weight", "8:16 default", weights},
		{"io.weight", "100 200", weights},
		{"io.weight", "1e2", weights},
		{"io.weight", "99999999999999999999999", weights},
		{"io.weight.own", "0", weights},
		{"io.max", "", rates},
		{"io.max", "8:16", rates},
		{"io.max", "max", rates},
		{"io.max", "rbps", rates},
		{"io.max", "bps=5", rates},
		{"io.max", "rbps=5 idle=7", rates},
		{"io.max", "8: rbps=5", rates},
		{"io.max", "8:16,rbps=5", rates},
		{"io.max", "rbps=0",
		 "a ceiling of 0 would stop all I/O: 1 and more is accepted, or max"},
		{"io.max", "rbps=10k", ceiling},
		{"io.max", "rbps=", ceiling},
		{"io.max", "rbps=-5", ceiling},
		{"io.max", "rbps=maximum", ceiling},
		{"io.max", "rbps=18446744073709551615", ceiling},
		{"io.max", "rbps=18446744073709551616", ceiling},
		{"io.max", "rbps=5 rbps=5", "each of rbps, wbps, riops and wiops is accepted once"},
		{"io.low", "rbps=max", "a floor is a number; max is accepted in io.max"},
		{"io.low", "rbps=1.5", floor},
		{"io.low", "rbps=18446744073709551615", floor},
		{"io.latency", "75000", target},
		{"io.latency", "target=0", target},
		{"io.latency", "target=3600000001", target},
		{"io.latency", "target=5ms", target},
		{"io.latency", "target=5 6", target},
	};
	char ini[200], complaint[400];
	size_t i;

	(void)state;
	for (i = 0; i < ROWS(rows); i++) {
		snprintf(ini, sizeof(ini), "[a]\n%s=%s\n", rows[i].key, rows[i].value);
		snprintf(complaint, sizeof(complaint), "g.ini:2: %s=%s: %s", rows[i].key,
			 rows[i].value, rows[i].accept);
		build_refused(NULL, ini, complaint);
	}
}

static void refused_lines(void **state)
{
	char ini[600];

	(void)state;
	build_refused(NULL, "io.weight=5\n[a]\n",
		      "g.ini:1: io.weight: keys are accepted behind a "
		      "[path] line");
	build_refused(
		NULL, "[a]\nweight=5\n",
		"g.ini:2: weight: io.weight, io.weight.own, io.max, io.low and io.latency are "
		"accepted");
	build_refused(NULL, "[a]\n\nio.weight\n",
		      "g.ini:3: io.weight: a [path] line or key = value is accepted");
	build_refused(NULL, "[a]\n= 5\n", "g.ini:2: = 5: a [path] line or key = value is accepted");
	build_refused(NULL, "[a\n", "g.ini:1: [a: a section line ends with ]");
	build_refused(NULL, "[a] x\n", "g.ini:1: [a] x: a section line ends with ]");
	build_refused(NULL, "[]\n",
		      "g.ini:1: []: a path is accepted, such as [a/b], or [/] for the root");
	build_refused(NULL, "[a//b]\n",
		      "g.ini:1: a//b: a path without empty parts is accepted, such as a/b");
	build_refused(NULL, "[//a]\n",
		      "g.ini:1: //a: a path without empty parts is accepted, such as a/b");
	build_refused(NULL, "[a/./b]\n",
		      "g.ini:1: a/./b: a path without . and .. is accepted, such as a/b");
	build_refused(NULL, "[..]\n",
		      "g.ini:1: ..: a path without . and .. is accepted, such as a/b");
	build_refused(NULL, "[a]\nio.weight=\x01\n",
		      "g.ini:2: io.weight=\\x01: text without control characters is accepted");
	build_refused(NULL, "[/]\nio.weight=5\n",
		      "g.ini:2: io.weight=5: the root has io.weight.own, io.max and io.low only");
	build_refused(NULL, "[/]\nio.latency=target=5\n",
		      "g.ini:2: io.latency=target=5: the root has io.weight.own, io.max and io.low "
		      "only");
	memset(ini, ' ', 300);
	memcpy(ini, "[a]\nio.max=rbps=5", 17);
	strcpy(ini + 300, "wbps=7\n");
	build_refused(NULL, ini, "g.ini:2: a line of 302 bytes: at most 198 are accepted");
}

/* 198 bytes are what fits, and a path may be as long as it likes. */
static void long_lines(void **state)
{
	char ini[2000] = "[", path[1100] = "";
	struct lab_groups *groups;
	int i;

	(void)state;
	for (i = 0; i < 32; i++)
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "%s%030d", i ? "/" : "",
			 i);
	snprintf(ini, sizeof(ini), "[%s]\nio.max=riops=%185d\n", path, 7);
	for (i = (int)strlen(path) + 3; ini[i]; i++)
		if (ini[i] == ' ')
			ini[i] = '0';
	groups = build(NULL, ini);
	assert_int_equal(groups->nr, 33);
	assert_int_equal(at(groups, path)->attr.max.iops[WEIR_READ], 7);
	lab_groups_free(groups);
	/* One more, at the end of the line where the number is. */
	strcpy(ini + strlen(ini) - 1, "0\n");
	build_refused(NULL, ini, "g.ini:2: a line of 199 bytes: at most 198 are accepted");
}

static void depth_limit(void **state)
{
	char ini[200] = "[0";
	struct lab_groups *groups;
	int i;

	(void)state;
	for (i = 1; i < 32; i++)
		strcat(ini, "/0");
	strcat(ini, "]\n");
	groups = build(NULL, ini);
	assert_int_equal(groups->nr, 33);
	lab_groups_free(groups);
	strcpy(ini + strlen(ini) - 2, "/0]\n");
	build_refused(NULL, ini,
		      "g.ini:1: 0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/"
		      "0/0/0/0: groups nested at most 32 deep are accepted");
}

/* A floor that can never be met is an error, wherever the ceiling stands. */
static void floors_and_ceilings(void **state)
{
	struct lab_groups *groups = build(NULL, "[a]\nio.low=rbps=5\nio.max=rbps=5\n"
						"[a/b]\nio.low=rbps=5 wbps=9\n");

	(void)state;
	lab_groups_free(groups);
	build_refused(NULL, "[a]\nio.low=rbps=6\n[b]\n[a]\nio.max=rbps=5\n",
		      "g.ini:5: a: io.low above io.max: a floor up to the ceiling is accepted");
	build_refused(NULL, "[a]\nio.max=wiops=5\nio.low=wiops=6\n",
		      "g.ini:3: a: io.low above io.max: a floor up to the ceiling is accepted");
	build_refused(NULL, "[a/b/c]\nio.low=wiops=6\n[a]\nio.max=wiops=5\n",
		      "g.ini:2: a/b/c: io.low above the io.max of a group around it, at g.ini:4: a "
		      "floor up to that is accepted");
	build_refused(
		NULL, "[a]\nio.low=rbps=6\n[/]\nio.max=rbps=5\n",
		"g.ini:2: a: io.low above the io.max of a group around it, at g.ini:4: a floor "
		"up to that is accepted");
}

static void rates(void **state)
{
	struct weir_rates r;
	char err[200] = "";

	(void)state;
	assert_int_equal(lab_parse_rates("  8:16\twbps=7  riops=max ", false, &r, err, sizeof(err)),
			 0);
	assert_int_equal(r.bps[WEIR_WRITE], 7);
	assert_true(r.bps[WEIR_READ] == WEIR_UNLIMITED && r.iops[WEIR_READ] == WEIR_UNLIMITED);
	assert_int_equal(lab_parse_rates("wiops=0", true, &r, err, sizeof(err)), 0);
	assert_int_equal(r.bps[WEIR_READ] + r.bps[WEIR_WRITE], 0);
	assert_int_equal(r.iops[WEIR_READ] + r.iops[WEIR_WRITE], 0);
	assert_string_equal(err, "");
	assert_true(lab_parse_rates("wiops=0", false, &r, err, sizeof(err)) < 0);
	assert_string_equal(err,
			    "a ceiling of 0 would stop all I/O: 1 and more is accepted, or max");
	assert_true(lab_parse_rates("", false, &r, NULL, 0) < 0);
}

/* As many groups as the scale test of the gauntlet has, found again by name. */
static void ten_thousand(void **state)
{
	size_t room = 40 * 10000, used = 0;
	char *ini = malloc(room), path[40];
	struct lab_groups *groups;
	int i;

	(void)state;
	assert_non_null(ini);
	for (i = 0; i < 10000; i++)
		used += (size_t)snprintf(ini + used, room - used, "[%d/%d/%d/%d]\nio.weight=%d\n",
					 i % 10, i / 10 % 10, i / 100 % 10, i, i + 1);
	groups = build(NULL, ini);
	assert_int_equal(groups->nr, 1 + 10 + 100 + 1000 + 10000);
	for (i = 0; i < 10000; i++) {
		snprintf(path, sizeof(path), "%d/%d/%d/%d", i % 10, i / 10 % 10, i / 100 % 10, i);
		assert_int_equal(at(groups, path)->attr.weight, i + 1);
	}
	lab_groups_free(groups);
	free(ini);
}

static void files_on_disk(void **state)
{
	char path[] = "/tmp/weir-test-XXXXXX", err[600] = "";
	struct lab_groups *groups;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "[a]\nio.weight=3\n", 16), 16);
	groups = lab_groups_build(NULL, path, err, sizeof(err));
	if (!groups)
		fail_msg("%s", err);
	assert_int_equal(at(groups, "a")->attr.weight, 3);
	assert_string_equal(at(groups, "a")->weight_file, path);
	lab_groups_free(groups);
	assert_int_equal(write(fd, "\0", 1), 1);
	assert_null(lab_groups_build(NULL, path, err, sizeof(err)));
	assert_non_null(strstr(err, ":3: a NUL byte: text is accepted"));
	assert_int_equal(ftruncate(fd, (off_t)100 << 20), 0);
	assert_null(lab_groups_build(NULL, path, err, sizeof(err)));
	assert_non_null(strstr(err, ": 104857600 bytes: a file of at most 8388608 bytes"));
	close(fd);
	unlink(path);
	assert_null(lab_groups_build(NULL, path, err, sizeof(err)));
	assert_non_null(strstr(err, ": No such file or directory"));
	assert_null(lab_groups_build(NULL, "/", err, sizeof(err)));
	assert_string_equal(err, "/: a directory: a file is accepted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_root_alone), cmocka_unit_test(from_jobs),
		cmocka_unit_test(from_the_file),  cmocka_unit_test(file_over_jobs),
		cmocka_unit_test(sections_again), cmocka_unit_test(refused_values),
		cmocka_unit_test(refused_lines),  cmocka_unit_test(long_lines),
		cmocka_unit_test(depth_limit),	  cmocka_unit_test(floors_and_ceilings),
		cmocka_unit_test(rates),	  cmocka_unit_test(ten_thousand),
		cmocka_unit_test(files_on_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

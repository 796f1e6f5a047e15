// SPDX-License-Identifier: GPL-2.0-only
/*
 * Job files on disk, in tests/data/fio:
 *
 *	good/NAME.fio	becomes the jobs that NAME.expect lists
 *	bad/NAME.fio	is refused with the words of its own first line
 *	fuzz/		what a fuzzer once found: no answer is expected, only that there is one
 *
 * WEIR_FIO_EXAMPLES=DIR also reads fio's own examples, from a directory that holds them.
 * WEIR_EXPECT=write writes the .expect files anew, for review with git diff.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "lab/fio_option.h"
#include "lab/groups.h"
#include "tests/fio_dump.h"
#include "tests/fio_util.h"

static char top[4096]; /* where the tests were started */

static void enter(const char *dir)
{
	if (chdir(top) || chdir(dir))
		fail_msg("%s: %s", dir, strerror(errno));
}

static bool ends_with(const char *name, const char *end)
{
	size_t nr = strlen(name), more = strlen(end);

	return nr > more && !strcmp(name + nr - more, end);
}

/* Calls fn with each name in the current directory that ends so. Returns how many. */
static int for_each(const char *end, void (*fn)(const char *name))
{
	struct dirent **entry;
	int i, nr = scandir(".", &entry, NULL, alphasort), called = 0;

	assert_true(nr >= 0);
	for (i = 0; i < nr; i++) {
		if (entry[i]->d_name[0] != '.' && ends_with(entry[i]->d_name, end)) {
			fn(entry[i]->d_name);
			called++;
		}
		free(entry[i]);
	}
	free(entry);
	return called;
}

static struct lab_jobs *read_one(const char *path, char *err, size_t err_bytes)
{
	return lab_jobs_read(&path, 1, NULL, err, err_bytes);
}

/* A whole file as a string. */
static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 65536);

	if (!f || !text)
		fail_msg("%s: %s", path, strerror(errno));
	assert_true(fread(text, 1, 65535, f) < 65535);
	fclose(f);
	return text;
}

static void check_good(const char *name)
{
	char err[600], path[300], *text = NULL, *expected;
	struct lab_jobs *jobs = read_one(name, err, sizeof(err)), *plain = parse("[x]\nsize=1m\n");
	size_t bytes;
	FILE *out;

	if (!jobs)
		fail_msg("%s", err);
	out = open_memstream(&text, &bytes);
	test_dump_jobs(out, jobs, plain->job[0]);
	fclose(out);
	snprintf(path, sizeof(path), "%.*s.expect", (int)strlen(name) - 4, name);
	if (getenv("WEIR_EXPECT")) {
		out = fopen(path, "w");
		assert_non_null(out);
		fputs(text, out);
		fclose(out);
	}
	expected = slurp(path);
	if (strcmp(text, expected) != 0)
		fail_msg("%s: instead of what %s says, it is\n%s", name, path, text);
	free(expected);
	free(text);
	lab_jobs_free(plain);
	lab_jobs_free(jobs);
}

static void good_files(void **state)
{
	(void)state;
	enter("tests/data/fio/good");
	assert_true(for_each(".fio", check_good) >= 9);
}

static void check_bad(const char *name)
{
	char err[600] = "", line[600] = "";
	struct lab_jobs *jobs = read_one(name, err, sizeof(err));
	FILE *f = fopen(name, "r");

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	if (jobs)
		fail_msg("%s was accepted", name);
	if (strncmp(line, "# ", 2) != 0 || strcmp(line + 2, err) != 0)
		fail_msg("%s: \"%s\" instead of \"%s\"", name, err, line);
}

static void bad_files(void **state)
{
	(void)state;
	enter("tests/data/fio/bad");
	assert_true(for_each(".fio", check_bad) >= 60);
}

/* What the target in fuzz/ checks is checked there; here it counts that the words are plain. */
static void check_find(const char *name)
{
	char err[600] = "", text[65536], *s;
	FILE *f = fopen(name, "r");
	struct lab_groups *groups;
	struct lab_jobs *jobs;
	size_t bytes;

	assert_non_null(f);
	bytes = fread(text, 1, sizeof(text), f);
	fclose(f);
	jobs = lab_jobs_parse(text, bytes, "find", NULL, err, sizeof(err));
	assert_true(jobs || *err);
	if (jobs) {
		groups = lab_groups_build(jobs, NULL, err, sizeof(err));
		assert_true(groups || *err);
		lab_groups_free(groups);
	}
	lab_jobs_free(jobs);
	for (s = err; *s; s++)
		if (*s < ' ' || *s > '~')
			fail_msg("%s: byte %02x in a complaint", name, (unsigned char)*s);
}

static void past_finds(void **state)
{
	(void)state;
	enter("tests/data/fio/fuzz");
	assert_true(for_each("", check_find) >= 1);
}

/* Each further file begins behind a wall, and globals stay in their file. */
static void several_files(void **state)
{
	static const char *const paths[] = {"thread-001.fio", "walls.fio", "thread-001.fio"};
	struct lab_jobs *jobs;
	char err[600] = "";

	(void)state;
	enter("tests/data/fio/good");
	jobs = lab_jobs_read(paths, 3, NULL, err, sizeof(err));
	if (!jobs)
		fail_msg("%s", err);
	assert_int_equal(jobs->nr, 1 + 8 + 1);
	assert_int_equal(jobs->job[0]->stonewall_group, 0);
	assert_int_equal(jobs->job[1]->stonewall_group, 1);
	assert_int_equal(jobs->job[8]->stonewall_group, 4);
	assert_int_equal(jobs->job[9]->stonewall_group, 5);
	assert_int_equal(jobs->job[9]->size, 100 << 20);
	assert_int_equal(jobs->job[9]->bs_min[0], 4096);
	assert_string_equal(jobs->job[9]->file, "thread-001.fio");
	lab_jobs_free(jobs);
}

static void standard_input(void **state)
{
	static const char text[] = "[a]\nsize=1m\n[b]\nbs=0\n";
	int pipes[2], saved = dup(STDIN_FILENO);
	char err[600] = "";

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], text, strlen(text)), strlen(text));
	close(pipes[1]);
	assert_int_equal(dup2(pipes[0], STDIN_FILENO), STDIN_FILENO);
	close(pipes[0]);
	assert_null(read_one("-", err, sizeof(err)));
	assert_non_null(strstr(err, "stdin:4: bs=0: "));
	if (saved >= 0) {
		dup2(saved, STDIN_FILENO);
		close(saved);
	}
}

static void what_is_no_job_file(void **state)
{
	char dir[] = "/tmp/weir-test-XXXXXX", err[600] = "";
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	enter(dir);
	assert_null(read_one(".", err, sizeof(err)));
	assert_string_equal(err, ".: a directory: a file is accepted");
	assert_null(read_one("none.fio", err, sizeof(err)));
	assert_string_equal(err, "none.fio: No such file or directory");

	/* Not read at all: a terabyte takes no time. */
	fd = open("huge.fio", O_CREAT | O_WRONLY, 0600);
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	assert_null(read_one("huge.fio", err, sizeof(err)));
	assert_string_equal(err, "huge.fio: 1099511627776 bytes: a file of at most 8388608 bytes "
				 "(8 MiB) is accepted");
	/* The largest that is read; it is all NUL. */
	assert_int_equal(ftruncate(fd, 8 << 20), 0);
	assert_null(read_one("huge.fio", err, sizeof(err)));
	assert_string_equal(err, "huge.fio:1: a line of 8388608 bytes: at most 8192 are accepted");
	/* A device tells no size, and has no end. */
	assert_null(read_one("/dev/zero", err, sizeof(err)));
	assert_non_null(strstr(err, "a file of at most 8388608 bytes (8 MiB) is accepted"));

	assert_int_equal(ftruncate(fd, 0), 0);
	if (geteuid() != 0) {
		assert_int_equal(fchmod(fd, 0), 0);
		assert_null(read_one("huge.fio", err, sizeof(err)));
		assert_string_equal(err, "huge.fio: Permission denied");
	}
	close(fd);
	unlink("huge.fio");
	enter(".");
	rmdir(dir);
}

/* 16 may nest, and a tree of includes has an end too. */
static void many_includes(void **state)
{
	char dir[] = "/tmp/weir-test-XXXXXX", err[600] = "", name[32];
	struct lab_jobs *jobs;
	FILE *f;
	int i;

	(void)state;
	assert_non_null(mkdtemp(dir));
	enter(dir);
	for (i = 0; i <= 17; i++) {
		snprintf(name, sizeof(name), "%d.inc", i);
		f = fopen(name, "w");
		assert_non_null(f);
		fprintf(f, "%ssize=1m\ninclude %d.inc\n", i ? "" : "[a]\n", i + 1);
		fclose(f);
	}
	assert_null(read_one("0.inc", err, sizeof(err)));
	assert_string_equal(err, "16.inc:2: 17.inc: includes may nest 16 deep");
	f = fopen("16.inc", "w");
	fputs("bs=8k\n", f);
	fclose(f);
	jobs = read_one("0.inc", err, sizeof(err));
	if (!jobs)
		fail_msg("%s", err);
	assert_int_equal(jobs->job[0]->bs_min[0], 8192);
	lab_jobs_free(jobs);

	for (i = 1; i <= 5; i++) {
		int k;

		snprintf(name, sizeof(name), "%d.inc", i);
		f = fopen(name, "w");
		for (k = 0; k < 20; k++)
			fprintf(f, i == 5 ? "bs=4k\n" : "include %d.inc\n", i + 1);
		fclose(f);
	}
	assert_null(read_one("0.inc", err, sizeof(err)));
	assert_non_null(strstr(err, "more than 262144 lines with includes"));
	for (i = 0; i <= 17; i++) {
		snprintf(name, sizeof(name), "%d.inc", i);
		unlink(name);
	}
	enter(".");
	rmdir(dir);
}

/* Does the table have what an ".It Cm NAME Pq Cm ALIAS" or ".It Cm NAME , NAME" line names? */
static void check_item(char *line, unsigned int *described)
{
	char *word, *save;
	int index;

	for (word = strtok_r(line, " ,\n", &save); word; word = strtok_r(NULL, " ,\n", &save)) {
		if (!strcmp(word, ".It") || !strcmp(word, "Cm") || !strcmp(word, "Pq"))
			continue;
		index = fio_option_find(word);
		if (index < 0)
			fail_msg("weir-job(5) describes %s, which is no option", word);
		described[index]++;
	}
}

static void manual(void **state)
{
	unsigned int described[FIO_OPTIONS_MAX] = {0};
	unsigned int i;
	char line[300];
	FILE *f;

	(void)state;
	enter(".");
	f = fopen("docs/man/weir-job.5", "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, ".It Cm ", 7))
			check_item(line, described);
	}
	fclose(f);
	/* Once by its name, and once by its alias. */
	for (i = 0; i < fio_nr_options; i++)
		if (fio_options[i].type != FIO_NO_EFFECT &&
		    described[i] != (fio_options[i].alias ? 2 : 1))
			fail_msg("weir-job(5) names %s %u times", fio_options[i].name,
				 described[i]);
}

static int nr_cannot_run;

static void check_example(const char *name)
{
	char err[600] = "";
	struct lab_jobs *jobs = read_one(name, err, sizeof(err));
	unsigned int i;

	if (!jobs)
		fail_msg("%s", err);
	for (i = 0; i < jobs->nr; i++) {
		if (!jobs->job[i]->cannot_run)
			continue;
		print_message("# %s: [%s] %s\n", name, jobs->job[i]->name,
			      jobs->job[i]->cannot_run);
		nr_cannot_run++;
		break;
	}
	lab_jobs_free(jobs);
}

static void fio_examples(void **state)
{
	const char *dir = getenv("WEIR_FIO_EXAMPLES");

	(void)state;
	if (!dir)
		skip();
	/* What they take from the environment. */
	setenv("FIO_RW", "randread", 0);
	setenv("FIO_IODEPTH", "1", 0);
	setenv("FIO_BS", "4k", 0);
	setenv("FIO_DIR", "/tmp", 0);
	enter(dir);
	print_message("# %d examples of fio, all understood\n", for_each(".fio", check_example));
	print_message("# %d of them have a job that the lab can't run\n", nr_cannot_run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_files),	  cmocka_unit_test(bad_files),
		cmocka_unit_test(past_finds),	  cmocka_unit_test(several_files),
		cmocka_unit_test(standard_input), cmocka_unit_test(what_is_no_job_file),
		cmocka_unit_test(many_includes),  cmocka_unit_test(manual),
		cmocka_unit_test(fio_examples),
	};

	if (!getcwd(top, sizeof(top)))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

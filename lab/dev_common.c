// SPDX-License-Identifier: GPL-2.0-only
/* Memory and the flush gate of the device models; see dev_common.h. */
#include "lab/dev_common.h"

#include <stdio.h>
#include <stdlib.h>

void *dev_zalloc(size_t nr, size_t bytes)
{
	void *p = calloc(nr, bytes);

	if (!p) {
		fputs("weir: out of memory for a device model\n", stderr);
		abort();
	}
	return p;
}

static bool may_start(const struct dev_gate *g, const struct lab_cmd *cmd)
{
	return !g->exclusive && !(dev_runs_alone(cmd) && g->active);
}

static void start(struct dev_gate *g, const struct lab_cmd *cmd)
{
	g->active++;
	g->exclusive = dev_runs_alone(cmd);
}

bool dev_gate_enter(struct dev_gate *g, struct lab_cmd *cmd)
{
	if (g->held.head || !may_start(g, cmd)) {
		dev_fifo_push(&g->held, cmd);
		return false;
	}
	start(g, cmd);
	return true;
}

void dev_gate_leave(struct dev_gate *g)
{
	if (!--g->active)
		g->exclusive = false;
}

void dev_gate_not_alone(struct dev_gate *g)
{
	g->exclusive = false;
}

struct lab_cmd *dev_gate_next(struct dev_gate *g)
{
	struct lab_cmd *cmd = g->held.head;

	if (!cmd || !may_start(g, cmd))
		return NULL;
	dev_fifo_pop(&g->held);
	start(g, cmd);
	return cmd;
}

// SPDX-License-Identifier: GPL-2.0-only
/* The module. */
#include <linux/module.h>

#include "sysfs.h"

/* A bug, which must not stop the disk: said once, and served on. */
void weir_assert_fail(const char *expr, const char *file, int line)
{
	WARN_ONCE(1, "weir: %s does not hold, %s:%d\n", expr, file, line);
}

static int __init weir_module_init(void)
{
	int ret = weir_mq_tunables_init();

	if (ret)
		return ret;
	ret = blkcg_policy_register(&weir_mq_blkcg_policy);
	if (ret)
		goto free;
	weir_mq_debugfs_init();
	ret = elv_register(&weir_mq_elevator);
	if (ret)
		goto unregister;
	return 0;
unregister:
	weir_mq_debugfs_exit();
	blkcg_policy_unregister(&weir_mq_blkcg_policy);
free:
	weir_mq_tunables_exit();
	return ret;
}

/* The elevator holds the module while any disk uses it. */
static void __exit weir_module_exit(void)
{
	elv_unregister(&weir_mq_elevator);
	weir_mq_debugfs_exit();
	blkcg_policy_unregister(&weir_mq_blkcg_policy);
	weir_mq_tunables_exit();
}

module_init(weir_module_init);
module_exit(weir_module_exit);

MODULE_DESCRIPTION("weir: shares one disk between cgroups");
MODULE_LICENSE("GPL");
MODULE_VERSION(WEIR_VERSION);
MODULE_ALIAS("weir-iosched");

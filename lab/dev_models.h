/* SPDX-License-Identifier: GPL-2.0-only */
/* The models that lab/device.c knows by name. */
#ifndef LAB_DEV_MODELS_H
#define LAB_DEV_MODELS_H

#include "lab/device.h"

extern const struct lab_device_model dev_hdd;
extern const struct lab_device_model dev_ssd, dev_pcie_flash, dev_nvme;
extern const struct lab_device_model dev_profile;
extern const struct lab_device_model dev_null;

#endif

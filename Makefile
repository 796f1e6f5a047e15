# SPDX-License-Identifier: GPL-2.0-only
#
# A thin front of meson and ninja, with the commands that people type. `make help` lists them.

BUILD ?= build
PREFIX ?= /usr/local
DEMO = sim examples/mysql-cluster.fio --device pcie-flash --policy noop,tpps,weir

.PHONY: all help demo check bench fuzz install tidy format clean kernel kernel-check install-dkms vm \
	vm-check vm-bench

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@command -v meson >/dev/null && command -v ninja >/dev/null || \
		{ echo "make: meson or ninja is missing; scripts/deps installs what the build needs" >&2; exit 1; }
	@meson setup $(BUILD) -Dprefix=$(PREFIX)

help:
	@echo "make          build $(BUILD)/weir"
	@echo "make demo     install what the build needs, build, compare three policies"
	@echo "make check    all tests with gcc, with clang and sanitizers, and the linters"
	@echo "make bench    speed of the core and of the lab, as ratios"
	@echo "make fuzz     fuzz the parsers, FUZZ_SECONDS=60 each"
	@echo "make install  into PREFIX=$(PREFIX), below DESTDIR if that is set"
	@echo "make kernel   the elevator module for Debian's 6.12 and 6.1, as build/kernel/weir-VERSION.ko"
	@echo "make kernel-check  the same, and sparse and checkpatch over its sources"
	@echo "make install-dkms  its sources into /usr/src, for DKMS, below DESTDIR if that is set"
	@echo "make vm-check load it in an emulated machine, and try it"
	@echo "make vm-bench measure it there beside the kernel's own elevators"
	@echo "make vm SCRIPT=FILE  the same with a script of yours"
	@echo "make tidy     clang-tidy and cppcheck only"
	@echo "make format   clang-format over all sources"
	@echo "make clean    remove the build directories"

demo:
	@scripts/deps build
	@echo "building $(BUILD)/weir ..."
	@$(MAKE) --no-print-directory all >$(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log
	@$(BUILD)/weir $(DEMO)

check:
	@scripts/deps check
	@scripts/check

bench: all
	@bench/run $(BUILD)

fuzz:
	@scripts/deps check
	@scripts/fuzz $(or $(FUZZ_SECONDS),60)

kernel:
	@scripts/deps kernel
	@scripts/kernel-build $(KERNEL)

kernel-check:
	@scripts/deps kernel
	@scripts/kernel-build --check $(KERNEL)

install-dkms:
	@scripts/install-dkms

vm-check: kernel
	@kernel/vm/check

# BENCH="weights cost": these only
vm-bench: all kernel
	@kernel/vm/bench/run $(BENCH)

vm: kernel
	@kernel/vm/boot $(SCRIPT)

install: all
	@meson configure $(BUILD) -Dprefix=$(PREFIX)
	@ninja -C $(BUILD)
	@meson install -C $(BUILD) --no-rebuild

tidy:
	@scripts/deps check
	@scripts/lint

format:
	@git ls-files '*.[ch]' | xargs clang-format -i

clean:
	@rm -rf $(BUILD) build-*

#include "tests/bfq_util.h"
int main(void)
{
	return 0;
}

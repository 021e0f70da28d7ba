/* at.cpp -- an index out of range: by at(), or by [] in a build that checks it. */
#include "handler.h"

#include <csignal>
#include <vector>

static volatile int done;

__attribute__((noinline)) static void pick(const std::vector<int> &numbers,
                                           size_t index)
{
#ifdef _GLIBCXX_ASSERTIONS
    done = numbers[index];
#else
    done = numbers.at(index);
#endif
}

int main(int argc, char **)
{
    handle(SIGABRT, 0);
    const std::vector<int> numbers(static_cast<size_t>(argc));
    pick(numbers, 9);
    return done;
}

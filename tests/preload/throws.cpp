// throws.cpp -- a C++ program that ends by an exception: of the kind its argument says.
#include <exception>
#include <stdexcept>

struct Shelf {
    int number;
    virtual ~Shelf() {}
};

namespace store {
// What it says lies behind another base.
struct Missing : Shelf, std::logic_error {
    Missing() : std::logic_error("no shelf 9") {}
};
struct Hidden : private std::logic_error {
    Hidden() : std::logic_error("not to be seen") {}
};
} // namespace store

static void fetch(char kind)
{
    if (kind == 'm')
        throw store::Missing();
    if (kind == 'h')
        throw store::Hidden();
    if (kind == 'i')
        throw 42;
    std::terminate();
}

int main(int argc, char **argv)
{
    fetch(argc > 1 ? argv[1][0] : ' ');
}

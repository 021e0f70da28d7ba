// llvm_warm.cc -- LLVM's symbolizer library in one process: the addresses of standard
// input a second time, and 100 of them over and over, in ns of CPU time. Whole chains with
// columns, not demangled.
//
//     bench-llvm FILE
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/Symbolize/Symbolize.h>

namespace
{

constexpr size_t hot = 100, hot_rounds = 30;

uint64_t cpu_ns()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

uint64_t pass(llvm::symbolize::LLVMSymbolizer &symbolizer, const char *path,
              const std::vector<uint64_t> &addresses, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        auto chain = symbolizer.symbolizeInlinedCode(
            path, { addresses[i], llvm::object::SectionedAddress::UndefSection });
        if (!chain) {
            llvm::consumeError(chain.takeError());
            continue;
        }
        for (uint32_t j = 0; j < chain->getNumberOfFrames(); j++) {
            const llvm::DILineInfo &frame = chain->getFrame(j);
            sum += frame.FunctionName.size() + frame.FileName.size() + frame.Line +
                   frame.Column;
        }
    }
    return sum;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: bench-llvm FILE, with addresses as input\n");
        return 2;
    }
    llvm::symbolize::LLVMSymbolizer::Options options;
    options.Demangle = false;
    llvm::symbolize::LLVMSymbolizer symbolizer(options);
    std::vector<uint64_t> addresses;
    char line[64];
    while (fgets(line, sizeof(line), stdin))
        addresses.push_back(strtoull(line, nullptr, 16));

    uint64_t sum = pass(symbolizer, argv[1], addresses, addresses.size());
    uint64_t start = cpu_ns();
    sum += pass(symbolizer, argv[1], addresses, addresses.size());
    double random = double(cpu_ns() - start) / double(addresses.size());
    size_t few = addresses.size() < hot ? addresses.size() : hot;
    start = cpu_ns();
    for (size_t i = 0; i < hot_rounds; i++)
        sum += pass(symbolizer, argv[1], addresses, few);
    double each = double(cpu_ns() - start) / double(few * hot_rounds);
    printf("random_ns\t%.1f\nhot_ns\t%.1f\nchecksum\t%llu\n", random, each,
           static_cast<unsigned long long>(sum));
    return 0;
}

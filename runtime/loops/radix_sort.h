// Sorting numbers digit by digit.
#pragma once

#include <cstdint>
#include <vector>

namespace toroid {

// Sorts by the bits first_bit .. first_bit + bits - 1, stably; the others go along. `scratch` gets the size of `numbers`. Uses
// several threads if `parallel`.
void RadixSort(int first_bit, int bits, bool parallel, std::vector<uint64_t>* numbers,
               std::vector<uint64_t>* scratch);

}  // namespace toroid

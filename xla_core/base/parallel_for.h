// One thread pool for the whole process.
#pragma once

#include <cstdint>
#include <functional>

namespace armillary {

int num_threads();            // ARMILLARY_FLAGS=threads=N, else the cores this process may use
void set_num_threads(int n);  // for tests

// Runs body(begin, end) over [0, extent) in ranges of at least `grain` iterations; returns when all are done.
// Exceptions are carried to the caller (the first one). Nested calls run inline. How ranges are cut depends
// on extent and grain only through the number of threads, so bodies must not let results depend on the cut.
void parallel_for(int64_t extent, int64_t grain, const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace armillary

// OpenBLAS, found at run time: a shared object with LAPACK inside, so that nothing of it is linked and its
// absence is no build error.
#pragma once

#include <string>

namespace armillary::native {

// Opens the library and takes its symbols; false when the file cannot be opened or holds no BLAS. The first
// success stays for the life of the process. Its number of threads is left alone, since the library may be
// somebody else's as well.
bool load_blas(const std::string& path);

// Also tries the path in ARMILLARY_BLAS when nothing was loaded yet.
bool blas_loaded();

// "dpotrf_", "cblas_sgemm": looked up with and without the prefix scipy_. nullptr when absent or nothing is
// loaded.
void* blas_symbol(const std::string& name);

}  // namespace armillary::native

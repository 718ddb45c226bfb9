// Reads an HLO text, writes it as we print it: for tests that show our text to other readers.
#include <fstream>
#include <iostream>
#include <sstream>

#include "xla_core/hlo/text.h"
#include "xla_core/hlo/verify.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream in(argv[1]);
  std::stringstream text;
  text << in.rdbuf();
  try {
    const auto module = armillary::parse(text.str(), {.file = argv[1]});
    armillary::verify(*module);
    std::cout << armillary::print(*module);
    return 0;
  } catch (const armillary::Error& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}

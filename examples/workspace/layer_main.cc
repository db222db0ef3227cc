// layer: writes a module of two products, of which one weight is cut, as HLO text.
#include <cstdio>

#include "hlo/base/status.h"
#include "hlo/builder/builder.h"
#include "hlo/io/hlo_text.h"

absl::Status Run() {
  using namespace toroid;
  Builder b("layer", /*num_devices=*/8);
  Value x = b.Parameter(Shape(xla::F32, {64, 128}), "x");
  Value w1 = b.Split(b.Parameter(Shape(xla::F32, {128, 512}), "w1"), 1, 8);
  Value w2 = b.Parameter(Shape(xla::F32, {512, 128}), "w2");
  ASSIGN_OR_RETURN(const auto module,
                   b.Build(b.Einsum("bh,ho->bo", b.Tanh(b.Einsum("bi,ih->bh", x, w1)), w2)));
  std::fputs(PrintModule(*module).c_str(), stdout);
  return absl::OkStatus();
}

int main() {
  const absl::Status status = Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

// BUILD: size = "small"
// The check finds faults: some 300 partitioned programs with one fault each (planted_faults.h), made of ten layers
// in two types on two meshes. Each program whose values without rounding are others is called unequal, and no other one.
#include "tests/planted_faults.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/arguments/random_arguments.h"
#include "runtime/check/run_check.h"
#include "runtime/numerics/compare.h"
#include "runtime/numerics/narrowest_float.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

struct Layer {
  const char *name, *text;
};

// TYPE is the type of the arithmetic; parameters and results are f32.
constexpr char kReducers[] = R"(HloModule layer
add { a = TYPE[] parameter(0) b = TYPE[] parameter(1) ROOT c = TYPE[] add(a, b) }
max { a = TYPE[] parameter(0) b = TYPE[] parameter(1) ROOT c = TYPE[] maximum(a, b) }
)";
constexpr Layer kLayers[] = {{"two products, weights cut", R"(ENTRY main {
  xf = f32[12,16] parameter(0)  x = TYPE[12,16] convert(xf)
  af = f32[16,22] parameter(1), sharding={devices=[1,DEVS]<=[DEVS]}  a = TYPE[16,22] convert(af)
  bf = f32[22,16] parameter(2)  b = TYPE[22,16] convert(bf)
  h = TYPE[12,22] dot(x, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = TYPE[12,22] tanh(h)
  y = TYPE[12,16] dot(t, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[12,16] convert(y), sharding={replicated}
})"},
                             {"softmax of uneven rows", R"(ENTRY main {
  xf = f32[6,13] parameter(0), sharding={devices=[1,DEVS]<=[DEVS]}  x = TYPE[6,13] convert(xf)
  low = TYPE[] constant(-inf)  zero = TYPE[] constant(0)
  m = TYPE[6] reduce(x, low), dimensions={1}, to_apply=max
  mb = TYPE[6,13] broadcast(m), dimensions={0}
  d = TYPE[6,13] subtract(x, mb)  e = TYPE[6,13] exponential(d)
  s = TYPE[6] reduce(e, zero), dimensions={1}, to_apply=add
  sb = TYPE[6,13] broadcast(s), dimensions={0}
  p = TYPE[6,13] divide(e, sb)
  ROOT r = f32[6,13] convert(p), sharding={devices=[1,DEVS]<=[DEVS]}
})"},
                             {"norm and its projection", R"(ENTRY main {
  xf = f32[5,14] parameter(0), sharding={devices=[1,DEVS]<=[DEVS]}  x = TYPE[5,14] convert(xf)
  wf = f32[14,9] parameter(1), sharding={devices=[DEVS,1]<=[DEVS]}  w = TYPE[14,9] convert(wf)
  zero = TYPE[] constant(0)  n = TYPE[] constant(0.0715)  nb = TYPE[5] broadcast(n), dimensions={}
  s = TYPE[5] reduce(x, zero), dimensions={1}, to_apply=add
  m = TYPE[5] multiply(s, nb)  mb = TYPE[5,14] broadcast(m), dimensions={0}
  d = TYPE[5,14] subtract(x, mb)  q = TYPE[5,14] multiply(d, d)
  v = TYPE[5] reduce(q, zero), dimensions={1}, to_apply=add
  i = TYPE[5] rsqrt(v)  ib = TYPE[5,14] broadcast(i), dimensions={0}
  y = TYPE[5,14] multiply(d, ib)
  o = TYPE[5,9] dot(y, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[5,9] convert(o)
})"},
                             {"convolution of cut images", R"(ENTRY main {
  xf = f32[2,14,9,3] parameter(0), sharding={devices=[1,DEVS,1,1]<=[DEVS]}  x = TYPE[2,14,9,3] convert(xf)
  kf = f32[3,3,3,4] parameter(1)  k = TYPE[3,3,3,4] convert(kf)
  c = TYPE[2,14,9,4] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  t = TYPE[2,14,9,4] tanh(c)
  jf = f32[4,3,4,2] parameter(2)  j = TYPE[4,3,4,2] convert(jf)
  o = TYPE[2,7,9,2] convolution(t, j), window={size=4x3 stride=2x1 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  ROOT r = f32[2,7,9,2] convert(o), sharding={devices=[1,DEVS,1,1]<=[DEVS]}
})"},
                             {"rows shifted and rolled", R"(ENTRY main {
  xf = f32[18,5] parameter(0), sharding={devices=[DEVS,1]<=[DEVS]}  x = TYPE[18,5] convert(xf)
  zero = TYPE[] constant(0)
  t = TYPE[16,5] slice(x), slice={[2:18], [0:5]}
  p = TYPE[18,5] pad(t, zero), padding=1_1x0_0
  a = TYPE[15,5] slice(x), slice={[3:18], [0:5]}
  b = TYPE[3,5] slice(x), slice={[0:3], [0:5]}
  c = TYPE[18,5] concatenate(a, b), dimensions={0}
  y = TYPE[18,5] subtract(p, c)
  ROOT r = f32[18,5] convert(y), sharding={devices=[DEVS,1]<=[DEVS]}
})"},
                             {"windows and sums so far", R"(ENTRY main {
  xf = f32[15,4] parameter(0), sharding={devices=[DEVS,1]<=[DEVS]}  x = TYPE[15,4] convert(xf)
  zero = TYPE[] constant(0)  low = TYPE[] constant(-inf)
  w = TYPE[15,4] reduce-window(x, low), window={size=3x1 pad=1_1x0_0}, to_apply=max
  s = TYPE[15,4] reduce-window(x, zero), window={size=15x1 pad=14_0x0_0}, to_apply=add
  y = TYPE[15,4] multiply(w, s)
  ROOT r = f32[15,4] convert(y), sharding={devices=[DEVS,1]<=[DEVS]}
})"},
                             {"rows of a cut table", R"(ENTRY main {
  tf = f32[21,6] parameter(0), sharding={devices=[DEVS,1]<=[DEVS]}  t = TYPE[21,6] convert(tf)
  i = s32[10,1] parameter(1)
  wf = f32[6,8] parameter(2), sharding={devices=[1,DEVS]<=[DEVS]}  w = TYPE[6,8] convert(wf)
  g = TYPE[10,6] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}
  u = TYPE[21,6] scatter(t, i, g), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
  o = TYPE[10,8] dot(g, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  uo = f32[21,6] convert(u)  oo = f32[10,8] convert(o)
  ROOT r = (f32[21,6], f32[10,8]) tuple(uo, oo), sharding={{devices=[DEVS,1]<=[DEVS]}, {replicated}}
})"},
                             {"attention over a cut sequence", R"(ENTRY main {
  qf = f32[2,10,6] parameter(0), sharding={devices=[1,DEVS,1]<=[DEVS]}  q = TYPE[2,10,6] convert(qf)
  kf = f32[2,10,6] parameter(1), sharding={devices=[1,DEVS,1]<=[DEVS]}  k = TYPE[2,10,6] convert(kf)
  vf = f32[2,10,6] parameter(2), sharding={devices=[1,DEVS,1]<=[DEVS]}  v = TYPE[2,10,6] convert(vf)
  low = TYPE[] constant(-inf)  zero = TYPE[] constant(0)
  l = TYPE[2,10,10] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  i = s32[10,10] iota(), iota_dimension=0  j = s32[10,10] iota(), iota_dimension=1
  c = pred[10,10] compare(i, j), direction=GE  cb = pred[2,10,10] broadcast(c), dimensions={1,2}
  lowb = TYPE[2,10,10] broadcast(low), dimensions={}
  s = TYPE[2,10,10] select(cb, l, lowb)
  m = TYPE[2,10] reduce(s, low), dimensions={2}, to_apply=max
  mb = TYPE[2,10,10] broadcast(m), dimensions={0,1}
  d = TYPE[2,10,10] subtract(s, mb)  e = TYPE[2,10,10] exponential(d)
  n = TYPE[2,10] reduce(e, zero), dimensions={2}, to_apply=add
  nb = TYPE[2,10,10] broadcast(n), dimensions={0,1}
  p = TYPE[2,10,10] divide(e, nb)
  o = TYPE[2,10,6] dot(p, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  ROOT r = f32[2,10,6] convert(o), sharding={devices=[1,DEVS,1]<=[DEVS]}
})"},
                             {"tokens to experts and back", R"(ENTRY main {
  xf = f32[4,6,5] parameter(0), sharding={devices=[DEVS,1,1]<=[DEVS]}  x = TYPE[4,6,5] convert(xf)
  mf = f32[4,6,8,3] parameter(1), sharding={devices=[DEVS,1,1,1]<=[DEVS]}  m = TYPE[4,6,8,3] convert(mf)
  wf = f32[8,5,7] parameter(2), sharding={devices=[DEVS,1,1]<=[DEVS]}  w = TYPE[8,5,7] convert(wf)
  d = TYPE[4,8,3,5] dot(m, x), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
  e = TYPE[8,4,3,5] transpose(d), dimensions={1,0,2,3}, sharding={devices=[DEVS,1,1,1]<=[DEVS]}
  h = TYPE[8,4,3,7] dot(e, w), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_contracting_dims={1}
  t = TYPE[8,4,3,7] tanh(h), sharding={devices=[DEVS,1,1,1]<=[DEVS]}
  b = TYPE[4,8,3,7] transpose(t), dimensions={1,0,2,3}, sharding={devices=[DEVS,1,1,1]<=[DEVS]}
  y = TYPE[4,6,7] dot(m, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2,3}, rhs_contracting_dims={1,2}
  ROOT r = f32[4,6,7] convert(y), sharding={devices=[DEVS,1,1]<=[DEVS]}
})"},
                             {"layers in a loop, a cache updated", R"(body {
  s = (s32[], TYPE[6,8], TYPE[3,8,8], TYPE[11,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0  x = TYPE[6,8] get-tuple-element(s), index=1
  w = TYPE[3,8,8] get-tuple-element(s), index=2  c = TYPE[11,8] get-tuple-element(s), index=3
  one = s32[] constant(1)  zero = s32[] constant(0)
  l = TYPE[1,8,8] dynamic-slice(w, i, zero, zero), dynamic_slice_sizes={1,8,8}
  m = TYPE[8,8] reshape(l)
  y = TYPE[6,8] dot(x, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = TYPE[6,8] tanh(y)
  row = TYPE[2,8] slice(t), slice={[1:3], [0:8]}
  two = s32[] constant(2)  at = s32[] multiply(i, two)
  u = TYPE[11,8] dynamic-update-slice(c, row, at, zero)
  n = s32[] add(i, one)
  ROOT r = (s32[], TYPE[6,8], TYPE[3,8,8], TYPE[11,8]) tuple(n, t, w, u)
}
more {
  s = (s32[], TYPE[6,8], TYPE[3,8,8], TYPE[11,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)
  ROOT p = pred[] compare(i, n), direction=LT
}
ENTRY main {
  xf = f32[6,8] parameter(0), sharding={devices=[DEVS,1]<=[DEVS]}  x = TYPE[6,8] convert(xf)
  wf = f32[3,8,8] parameter(1), sharding={devices=[1,DEVS,1]<=[DEVS]}  w = TYPE[3,8,8] convert(wf)
  cf = f32[11,8] parameter(2), sharding={devices=[DEVS,1]<=[DEVS]}  c = TYPE[11,8] convert(cf)
  zero = s32[] constant(0)
  s = (s32[], TYPE[6,8], TYPE[3,8,8], TYPE[11,8]) tuple(zero, x, w, c)
  l = (s32[], TYPE[6,8], TYPE[3,8,8], TYPE[11,8]) while(s), condition=more, body=body
  y = TYPE[6,8] get-tuple-element(l), index=1  u = TYPE[11,8] get-tuple-element(l), index=3
  yo = f32[6,8] convert(y)  uo = f32[11,8] convert(u)
  ROOT r = (f32[6,8], f32[11,8]) tuple(yo, uo)
})"}};

constexpr int kFaultsOfProgram = 20;
constexpr double kSameValue =
    1e-12;  // Relative: the order of summation is that of the program without a fault.

struct Count {
  int planted = 0, found = 0, equal = 0;
};
using Counts = std::array<Count, kNumFaults>;

// Up to kFaultsOfProgram faults, each kind in turn.
std::vector<std::pair<Fault, std::unique_ptr<Module>>> PlantFaults(const Module& module, uint64_t seed) {
  std::vector<FaultSite> sites = FaultSites(module);
  std::mt19937_64 random(seed);
  std::shuffle(sites.begin(), sites.end(), random);
  std::array<std::vector<FaultSite>, kNumFaults> by_kind;
  for (const FaultSite& site : sites) by_kind[static_cast<int>(site.fault)].push_back(site);
  std::vector<std::pair<Fault, std::unique_ptr<Module>>> faulty;
  for (bool some = true; some && faulty.size() < kFaultsOfProgram;) {
    some = false;
    for (auto& kind : by_kind) {
      while (!kind.empty()) {
        const FaultSite site = kind.back();
        kind.pop_back();
        std::unique_ptr<Module> planted = PlantFault(module, site);
        if (planted == nullptr) continue;
        faulty.emplace_back(site.fault, std::move(planted));
        some = true;
        break;
      }
    }
  }
  return faulty;
}

// Checks the program without a fault, then with faults.
void CheckFaults(const std::string& text, int devices, uint64_t seed, Counts* counts) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> module, ParseModule(text));
  ASSERT_OK(VerifyModule(*module));
  PartitionOptions partition;
  partition.num_partitions = devices;
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, partition));
  std::vector<Shape> shapes;
  for (int i = 0; i < module->entry()->num_parameters(); ++i) {
    shapes.push_back(module->entry()->parameter(i)->shape());
  }
  const std::vector<Literal> arguments = RandomLiterals(shapes, IndexBound(*module), seed);
  ProgramRunner::Options options;
  options.max_bytes = int64_t{1} << 30;
  options.check_replicas = true;
  options.tolerances = OutputTolerances(*module);
  ProgramRunner runner(arguments, nullptr, options);
  const Shape& global = module->entry()->root()->shape();
  RunCheck check;
  check.reference = module.get();
  check.global = &global;
  check.tolerances = options.tolerances;
  check.num_partitions = devices;
  const auto is_called_equal = [&](const Module& program) {
    check.program = &program;
    const auto run = runner.Run(program, &global, "");
    if (!run.ok()) return false;
    const auto outcome = CheckRun(check, *run, runner);
    return outcome.ok() && outcome->equal();
  };
  ASSERT_TRUE(is_called_equal(*partitioned.module)) << text;
  ASSERT_OK_AND_ASSIGN(const ProgramRun right, runner.RunPromoted(*partitioned.module, &global, ""));
  for (const auto& [fault, program] : PlantFaults(*partitioned.module, seed)) {
    const auto run = runner.RunPromoted(*program, &global, "");
    const bool same_values = run.ok() && Compare(run->result, right.result, kSameValue).equal;
    const bool called_equal = is_called_equal(*program);
    EXPECT_EQ(called_equal, same_values) << FaultName(fault) << "\n" << PrintModule(*program);
    Count& count = (*counts)[static_cast<int>(fault)];
    ++count.planted;
    count.found += !called_equal;
    count.equal += same_values;
  }
}

TEST(PlantedFaultsTest, EachProgramThatComputesSomethingElseIsCalledUnequal) {
  Counts counts;
  uint64_t seed = 1;
  for (const Layer& layer : kLayers) {
    for (const char* type : {"bf16", "f32"}) {
      for (const int devices : {3, 4}) {
        SCOPED_TRACE(absl::StrCat(layer.name, ", ", type, ", ", devices, " devices"));
        const std::string text = absl::StrReplaceAll(absl::StrCat(kReducers, layer.text),
                                                     {{"TYPE", type}, {"DEVS", absl::StrCat(devices)}});
        CheckFaults(text, devices, seed++, &counts);
      }
    }
  }
  Count all;
  std::printf("%-24s %8s %8s %16s\n", "fault", "planted", "found", "equal by value");
  for (int i = 0; i < kNumFaults; ++i) {
    const Count& count = counts[i];
    std::printf("%-24s %8d %8d %16d\n", FaultName(static_cast<Fault>(i)), count.planted, count.found,
                count.equal);
    all.planted += count.planted;
    all.found += count.found;
    all.equal += count.equal;
  }
  std::printf("%-24s %8d %8d %16d\n", "all", all.planted, all.found, all.equal);
  EXPECT_EQ(all.found + all.equal, all.planted);
  EXPECT_GE(all.planted, 300);
  EXPECT_GE(all.found, all.planted * 3 / 4);  // Most faults change values.
}

}  // namespace
}  // namespace toroid

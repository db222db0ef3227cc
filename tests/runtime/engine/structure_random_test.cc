// BUILD: size = "small"
// Random programs of ops that group, order and carry values: control flow, calls, asynchronous ops, tokens,
// transfers and run-time sizes, against the expected values.
#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/number_format.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

int32_t Small(std::mt19937_64& random) { return static_cast<int32_t>(random() % 199) - 99; }

Literal Ints(const std::vector<int32_t>& values) {
  Literal literal(Shape(xla::S32, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), literal.mutable_data<int32_t>().begin());
  return literal;
}
Literal Int(int32_t value) {
  Literal literal(Shape(xla::S32, {}));
  literal.mutable_data<int32_t>()[0] = value;
  return literal;
}

// NAME(x) = m x + a.
std::string Affine(const std::string& name, int32_t m, int32_t a) {
  return absl::StrCat(name, " { x = s32[] parameter(0) m = s32[] constant(", m, ") a = s32[] constant(", a,
                      ") p = s32[] multiply(x, m) ROOT y = s32[] add(p, a) }\n");
}

int32_t Scalar(const Literal& literal) { return literal.data<int32_t>()[0]; }

TEST(StructureRandomTest, CallsOfAllKindsApplyTheirComputation) {
  std::mt19937_64 random(121);
  for (int round = 0; round < 30; ++round) {
    const int32_t m = Small(random), a = Small(random), x = Small(random);
    for (const std::string body :
         {"ROOT y = s32[] call(x), to_apply=f", "ROOT y = s32[] fusion(x), kind=kLoop, calls=f",
          "ROOT y = s32[] map(x), dimensions={}, to_apply=f",
          "s = ((s32[]), s32[], u32[]) async-start(x), calls=f ROOT y = s32[] async-done(s)",
          "s = ((s32[]), s32[], u32[]) async-start(x), calls=f u = ((s32[]), s32[], u32[]) async-update(s) "
          "ROOT y = s32[] async-done(u)"}) {
      const auto module = MakeModule("x = s32[] parameter(0) " + body, Affine("f", m, a));
      ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {Int(x)}));
      EXPECT_EQ(Scalar(y), m * x + a) << body;
    }
  }
}

TEST(StructureRandomTest, ConditionalsTakeTheirBranch) {
  std::mt19937_64 random(122);
  for (int round = 0; round < 40; ++round) {
    const int32_t branches = 1 + static_cast<int32_t>(random() % 4), x = Small(random);
    const int32_t index = static_cast<int32_t>(random() % 9) - 3;
    std::string computations;
    std::vector<std::string> names;
    std::vector<std::pair<int32_t, int32_t>> affine;
    for (int32_t b = 0; b < branches; ++b) {
      affine.emplace_back(Small(random), Small(random));
      names.push_back(absl::StrCat("f", b));
      computations += Affine(names.back(), affine.back().first, affine.back().second);
    }
    const std::vector<std::string> operands(branches, "x");
    const auto module = MakeModule(
        absl::StrCat("x = s32[] parameter(0) i = s32[] parameter(1) ROOT y = s32[] conditional(i, ",
                     absl::StrJoin(operands, ", "), "), branch_computations={", absl::StrJoin(names, ", "),
                     "}"),
        computations);
    ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {Int(x), Int(index)}));
    // An index out of range takes the last branch.
    const auto [m, a] = affine[index < 0 || index >= branches ? branches - 1 : index];
    EXPECT_EQ(Scalar(y), m * x + a) << index << " of " << branches;
    if (branches != 2) continue;
    const auto two = MakeModule(
        "x = s32[] parameter(0) p = pred[] parameter(1) ROOT y = s32[] conditional(p, x, x), "
        "true_computation=f0, false_computation=f1",
        computations);
    Literal predicate(Shape(xla::PRED, {}));
    predicate.mutable_data<bool>()[0] = index > 0;
    ASSERT_OK_AND_ASSIGN(const Literal z, RunSingle(*two, {Int(x), predicate}));
    EXPECT_EQ(Scalar(z),
              index > 0 ? affine[0].first * x + affine[0].second : affine[1].first * x + affine[1].second);
  }
}

// Devices take different branches, and loop different numbers of times.
TEST(StructureRandomTest, DevicesGoTheirOwnWays) {
  std::mt19937_64 random(123);
  for (int round = 0; round < 30; ++round) {
    const int64_t replicas = 1 + random() % 3, partitions = 1 + random() % 4;
    const int32_t step = Small(random), start = Small(random);
    const auto module = MakeModule(
        absl::StrCat(
            "r = u32[] replica-id() p = u32[] partition-id() k = u32[] constant(3) m = u32[] multiply(r, k) "
            "s = u32[] add(m, p) i = s32[] convert(s) x = s32[] constant(",
            start,
            ") t = (s32[], s32[]) tuple(i, x) w = (s32[], s32[]) while(t), condition=c, body=b "
            "v = s32[] get-tuple-element(w), index=1 two = s32[] constant(2) odd = s32[] remainder(i, two) "
            "ROOT y = s32[] conditional(odd, v, v), branch_computations={f, g}"),
        absl::StrCat(
            "c { t = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(t), index=0 "
            "z = s32[] constant(0) ROOT p = pred[] compare(i, z), direction=GT }\n"
            "b { t = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(t), index=0 "
            "x = s32[] get-tuple-element(t), index=1 one = s32[] constant(1) j = s32[] subtract(i, one) "
            "d = s32[] constant(",
            step, ") y = s32[] add(x, d) ROOT u = (s32[], s32[]) tuple(j, y) }\n", Affine("f", 2, 0),
            Affine("g", -1, 5)));
    ASSERT_OK_AND_ASSIGN(const std::vector<Literal> y, RunOnDevices(*module, {}, partitions, replicas));
    for (int64_t device = 0; device < replicas * partitions; ++device) {
      const int32_t i = static_cast<int32_t>(device / partitions * 3 + device % partitions),
                    v = start + i * step;
      EXPECT_EQ(Scalar(y[device]), i % 2 == 0 ? 2 * v : 5 - v) << "device " << device;
    }
  }
}

TEST(StructureRandomTest, OpsThatOnlyOrderOrPlaceGiveTheirOperand) {
  std::mt19937_64 random(124);
  for (const PrimitiveType type : AllTypes()) {
    const std::string shape = TypedShape(type, {2, 3});
    const Literal x = RandomArray(type, {2, 3}, random, false);
    for (const std::string body :
         {"ROOT y = SHAPE opt-barrier(x)", "ROOT y = SHAPE copy(x)",
          "ROOT y = SHAPE domain(x), domain={kind=\"sharding\", entry={replicated}, exit={replicated}}",
          "c = (SHAPE, SHAPE, u32[]) copy-start(x) ROOT y = SHAPE copy-done(c)",
          "t = token[] after-all() u = token[] after-all(t, t) ROOT y = SHAPE add-dependency(x, u)",
          "m = (SHAPE, SHAPE) tuple(x, x) n = (SHAPE, (SHAPE, SHAPE)) tuple(x, m) g = (SHAPE, SHAPE) "
          "get-tuple-element(n), index=1 "
          "ROOT y = SHAPE get-tuple-element(g), index=1"}) {
      const auto module = MakeModule(
          absl::StrCat("x = ", shape, " parameter(0) ", absl::StrReplaceAll(body, {{"SHAPE", shape}})));
      ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {x}));
      EXPECT_EQ(y, x) << body;
    }
  }
}

TEST(StructureRandomTest, FeedsCarryValuesInOrder) {
  std::mt19937_64 random(125);
  for (int round = 0; round < 30; ++round) {
    const int n = 1 + static_cast<int>(random() % 4);
    std::string body = "t0 = token[] after-all() ";
    RunOptions options;
    std::vector<Literal> fed;
    Outfeed out;
    for (int i = 0; i < n; ++i) {
      const int64_t size = 1 + random() % 5;
      std::vector<int32_t> values(size);
      for (int32_t& value : values) value = Small(random);
      fed.push_back(Ints(values));
      const std::string shape = absl::StrCat("s32[", size, "]");
      absl::StrAppend(&body, "f", i, " = (", shape, ", token[]) infeed(t", i, ") v", i, " = ", shape,
                      " get-tuple-element(f", i, "), index=0 e", i, " = token[] get-tuple-element(f", i,
                      "), index=1 n", i, " = ", shape, " negate(v", i, ") t", i + 1, " = token[] outfeed(n",
                      i, ", e", i, "), outfeed_shape=", shape, " ");
    }
    body += "ROOT r = s32[] constant(0)";
    options.infeed = std::make_shared<LiteralInfeed>(fed);
    options.outfeed = &out;
    ASSERT_OK(RunModule(*MakeModule(body), {}, options));
    ASSERT_EQ(static_cast<int>(out.size()), n);
    for (int i = 0; i < n; ++i) {
      const Literal& given = out[i].value;
      ASSERT_EQ(given.shape().NumElements(), fed[i].shape().NumElements());
      for (int64_t k = 0; k < given.shape().NumElements(); ++k) {
        EXPECT_EQ(given.data<int32_t>()[k], -fed[i].data<int32_t>()[k]);
      }
    }
  }
}

TEST(StructureRandomTest, SizesBoundWhatIsThere) {
  std::mt19937_64 random(127);
  for (int round = 0; round < 40; ++round) {
    const int64_t bound = 1 + random() % 7;
    const int32_t size = static_cast<int32_t>(random() % (bound + 1));
    std::vector<int32_t> values(bound);
    for (int32_t& value : values) value = Small(random);
    const std::string sized =
        absl::StrCat("x = s32[", bound, "] parameter(0) n = s32[] parameter(1) d = s32[<=", bound,
                     "] set-dimension-size(x, n), dimensions={0} one = s32[] constant(1) "
                     "two = s32[<=1,<=",
                     bound, "] dynamic-reshape(d, one, n) ");
    const auto run = [&](const std::string& rest) {
      return RunSingle(*MakeModule(sized + rest, ReducerText("f", "s32", "add")), {Ints(values), Int(size)});
    };
    const int32_t sum = std::accumulate(values.begin(), values.begin() + size, 0);
    ASSERT_OK_AND_ASSIGN(
        const Literal total,
        run("z = s32[] constant(0) ROOT y = s32[] reduce(d, z), dimensions={0}, to_apply=f"));
    EXPECT_EQ(Scalar(total), sum);
    ASSERT_OK_AND_ASSIGN(
        const Literal reshaped,
        run("z = s32[] constant(0) ROOT y = s32[] reduce(two, z), dimensions={0,1}, to_apply=f"));
    EXPECT_EQ(Scalar(reshaped), sum);
    for (const std::string of : {"d), dimensions={0}", "two), dimensions={1}"}) {
      ASSERT_OK_AND_ASSIGN(const Literal found, run("ROOT y = s32[] get-dimension-size(" + of));
      EXPECT_EQ(Scalar(found), size);
    }
  }
}

TEST(StructureRandomTest, TheCounterAdvancesByItsDeltas) {
  std::mt19937_64 random(128);
  for (int round = 0; round < 20; ++round) {
    const int64_t first = 1 + random() % 1000000, second = 1 + random() % 1000000;
    const auto module = MakeModule(absl::StrCat(
        "a = u64[2] rng-get-and-update-state(), delta=", first,
        " b = u64[2] rng-get-and-update-state(), delta=", second,
        " c = u64[2] rng-get-and-update-state(), delta=1 d = u64[2] subtract(b, a) e = u64[2] subtract(c, b) "
        "ROOT t = (u64[2], u64[2]) tuple(d, e)"));
    ASSERT_OK_AND_ASSIGN(const Literal t, RunSingle(*module, {}));
    EXPECT_EQ(t.element(0).data<uint64_t>()[0], static_cast<uint64_t>(first));
    EXPECT_EQ(t.element(1).data<uint64_t>()[0], static_cast<uint64_t>(second));
    EXPECT_EQ(t.element(0).data<uint64_t>()[1], 0u);
  }
}

}  // namespace
}  // namespace toroid

// BUILD: size = "medium"
// Random programs of elementwise ops, views and reductions: groups give the bits that instructions alone give, on one device
// and on three, for values that are equal on all devices and values that are not, with one thread and with two.
#include <algorithm>
#include <complex>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "hlo/ir/native_types.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/mesh_bytes.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

struct Value {
  std::string name, type;
  std::vector<int64_t> dims;
  std::string shape() const { return absl::StrCat(type, "[", absl::StrJoin(dims, ","), "]"); }
};

// Writes a program over arrays of [a, b], rows [a], columns [b] and scalars.
class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {
    const std::vector<int64_t> sizes = {1, 2, 3, 7, 8, 33, 100, 257, 1100};
    a_ = Pick(sizes);
    b_ = Pick(sizes);
    if (Chance(10)) b_ = 20'000;  // Rows longer than a block.
    if (b_ == 20'000) a_ = 1 + random_() % 3;
    type_ = Pick<std::string>({"s32", "f32", "bf16", "u8", "c64"});
    // Bits of sums of floats depend on their order, those of integers do not.
    exact_ = type_ == "s32" || type_ == "u8";
  }

  std::string Body() {
    const int parameters = 1 + random_() % 3;
    for (int p = 0; p < parameters; ++p) {
      const std::vector<std::vector<int64_t>> shapes = {{a_, b_}, {a_, b_}, {b_}, {a_}, {}, {a_ + 2, b_ + 1}};
      Add(Pick(shapes), type_, absl::StrCat("parameter(", p, ")"));
      parameters_.push_back(values_.back());
    }
    const int ops = 3 + random_() % 25;
    for (int i = 0; i < ops; ++i) AddOp();
    std::vector<std::string> names, shapes;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (i + 3 < values_.size() && !Chance(4)) continue;
      names.push_back(values_[i].name);
      shapes.push_back(values_[i].shape());
    }
    absl::StrAppend(&text_, "ROOT r = (", absl::StrJoin(shapes, ", "), ") tuple(", absl::StrJoin(names, ", "),
                    ")");
    return text_;
  }
  std::string Computations() const {
    std::string text;
    for (const std::string& op : Reducers()) absl::StrAppend(&text, ReducerText(op, type_, op), "\n");
    return text;
  }
  int64_t elements() const { return a_ * b_; }

 private:
  bool Chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  template <typename T>
  T Pick(const std::vector<T>& from) {
    return from[random_() % from.size()];
  }
  std::vector<std::string> Reducers() const {
    if (type_ == "c64") return {"add"};
    return exact_ ? std::vector<std::string>{"add", "multiply", "maximum"}
                  : std::vector<std::string>{"maximum", "minimum"};
  }

  Value Add(std::vector<int64_t> dims, const std::string& type, const std::string& op) {
    Value value{absl::StrCat("v", values_.size()), type, std::move(dims)};
    absl::StrAppend(&text_, value.name, " = ", value.shape(), " ", op, "\n");
    values_.push_back(value);
    return value;
  }
  // A value of this shape and type: one that is there, or one made of what is there.
  Value Find(const std::vector<int64_t>& dims, const std::string& type) {
    std::vector<Value> fit;
    for (const Value& value : values_) {
      if (value.dims == dims && value.type == type) fit.push_back(value);
    }
    if (!fit.empty() && !Chance(10)) return fit[random_() % 3 == 0 ? random_() % fit.size() : fit.size() - 1];
    if (type == "pred") {
      const Value x = Find(dims, type_), y = Find(dims, type_);
      return Add(
          dims, "pred",
          absl::StrCat("compare(", x.name, ", ", y.name, "), direction=", type_ == "c64" ? "NE" : "GT"));
    }
    if (dims.empty()) return Add({}, type, absl::StrCat("constant(", type == "c64" ? "(2, -1)" : "3", ")"));
    if (type != "c64" && Chance(30)) {
      return Add(dims, type, absl::StrCat("iota(), iota_dimension=", random_() % dims.size()));
    }
    if (dims.size() == 2 && Chance(60)) {
      const int kept = random_() % 2;
      const Value x = Find({kept == 0 ? a_ : b_}, type);
      if (dims == std::vector<int64_t>{a_, b_})
        return Add(dims, type, absl::StrCat("broadcast(", x.name, "), dimensions={", kept, "}"));
    }
    return Add(dims, type, absl::StrCat("broadcast(", Find({}, type).name, "), dimensions={}"));
  }

  void AddOp() {
    const std::vector<std::vector<int64_t>> shapes = {{a_, b_}, {a_, b_}, {a_, b_}, {a_}, {b_}, {}};
    const std::vector<int64_t> dims = Pick(shapes);
    switch (random_() % 10) {
      case 0:
      case 1:
      case 2: {
        const Value x = Find(dims, type_), y = Find(dims, type_);
        const std::vector<std::string> ops =
            type_ == "c64" ? std::vector<std::string>{"add", "subtract", "multiply"}
                           : std::vector<std::string>{"add", "subtract", "multiply", "maximum", "minimum"};
        Add(dims, type_, absl::StrCat(Pick(ops), "(", x.name, ", ", y.name, ")"));
        return;
      }
      case 3: {
        const Value x = Find(dims, type_);
        Add(dims, type_,
            absl::StrCat(Pick<std::string>(type_ == "f32" || type_ == "bf16"
                                               ? std::vector<std::string>{"negate", "abs", "tanh", "floor"}
                                               : std::vector<std::string>{"negate", "copy"}),
                         "(", x.name, ")"));
        return;
      }
      case 4: {
        const Value p = Find(dims, "pred"), x = Find(dims, type_), y = Find(dims, type_);
        Add(dims, type_, absl::StrCat("select(", p.name, ", ", x.name, ", ", y.name, ")"));
        return;
      }
      case 5: {
        const Value x = Find(dims, type_);
        if (type_ == "c64") return;
        const Value y = Add(dims, "f32", absl::StrCat("convert(", x.name, ")"));
        Add(dims, type_, absl::StrCat("convert(", y.name, ")"));
        return;
      }
      case 6:
      case 7: {
        const Value x = Find({a_, b_}, type_), zero = Find({}, type_);
        const int which = random_() % 3;
        const std::vector<int64_t> kept = which == 0   ? std::vector<int64_t>{a_}
                                          : which == 1 ? std::vector<int64_t>{b_}
                                                       : std::vector<int64_t>{};
        const char* reduced = which == 0 ? "1" : which == 1 ? "0" : "0,1";
        if (type_ == "c64") return;
        Add(kept, type_,
            absl::StrCat("reduce(", x.name, ", ", zero.name, "), dimensions={", reduced,
                         "}, to_apply=", Pick(Reducers())));
        return;
      }
      case 8: {
        const Value x = Find({a_, b_}, type_);
        const int64_t start = random_() % b_, limit = start + 1 + random_() % (b_ - start);
        Value cut = Add({a_, limit - start}, type_,
                        absl::StrCat("slice(", x.name, "), slice={[0:", a_, "],[", start, ":", limit, "]}"));
        if (limit - start == 1) Add({a_}, type_, absl::StrCat("reshape(", cut.name, ")"));
        return;
      }
      default: {
        if (type_ == "c64") return;
        const Value x = Find(dims, type_), low = Find(Chance(50) ? dims : std::vector<int64_t>{}, type_),
                    high = Find({}, type_);
        Add(dims, type_, absl::StrCat("clamp(", low.name, ", ", x.name, ", ", high.name, ")"));
        return;
      }
    }
  }

  std::mt19937_64 random_;
  int64_t a_, b_;
  std::string type_, text_;
  bool exact_;
  std::vector<Value> values_, parameters_;
};

// Small numbers, so that sums and products of a few are exact in every type.
Literal RandomLiteral(const Shape& shape, std::mt19937_64& random) {
  Literal literal(shape);
  for (int64_t i = 0; i < shape.ByteSize(); ++i) literal.mutable_bytes()[i] = 0;
  for (int64_t i = 0; i < shape.NumElements(); ++i) {
    const int value = static_cast<int>(random() % 9) - 4;
    switch (shape.element_type()) {
      case xla::S32:
        literal.mutable_data<int32_t>()[i] = value;
        break;
      case xla::F32:
        literal.mutable_data<float>()[i] = value * 0.75f;
        break;
      case xla::BF16:
        literal.mutable_data<bfloat16>()[i] = static_cast<bfloat16>(value * 0.75f);
        break;
      case xla::U8:
        literal.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(value + 4);
        break;
      default:
        literal.mutable_data<std::complex<float>>()[i] = {static_cast<float>(value),
                                                          static_cast<float>(-value)};
    }
  }
  return literal;
}

TEST(GroupsRandomTest, GiveTheBitsOfInstructionsAlone) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Writer writer(seed);
    const std::string body = writer.Body();
    SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", body));
    const std::unique_ptr<Module> module = MakeModule(body, writer.Computations());
    std::mt19937_64 random(seed);
    const int64_t devices = seed % 3 == 0 ? 3 : 1;
    std::vector<std::vector<Literal>> arguments;
    for (int p = 0; p < module->entry()->num_parameters(); ++p) {
      std::vector<Literal> rows(random() % 2 == 0 ? 1 : devices);
      for (Literal& row : rows) row = RandomLiteral(module->entry()->parameter(p)->shape(), random);
      arguments.push_back(std::move(rows));
    }
    std::string alone;
    for (const auto& [groups, threads] : {std::pair(false, 1), std::pair(true, 1), std::pair(true, 2)}) {
      ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Executor> executor,
                           Executor::Create(*module, {.groups = groups}));
      // The first rounds run ops one by one, the last one runs chains as machine code.
      const int rounds = groups ? static_cast<int>(2 + std::min<int64_t>(70'000 / writer.elements(), 70)) : 2;
      for (int round = 0; round < rounds; ++round) {
        std::vector<MeshValue> values;
        for (const std::vector<Literal>& rows : arguments) {
          ASSERT_OK_AND_ASSIGN(MeshValue value, rows.size() == 1 ? MeshValue::Uniform(rows[0], devices)
                                                                 : MeshValue::PerDevice(rows));
          values.push_back(std::move(value));
        }
        RunOptions options;
        options.num_partitions = devices;
        options.threads = threads;
        ASSERT_OK_AND_ASSIGN(const MeshValue result, executor->Run(std::move(values), options));
        const std::string bytes = BytesOf(result);
        if (!groups) {
          alone = bytes;
        } else {
          ASSERT_TRUE(bytes == alone) << threads << " threads";
        }
      }
    }
  }
}

// Code that needs no registers of blocks runs over tens of thousands of elements at a time; the last block is a shorter one.
TEST(GroupsTest, LongBlocksOfCodeGiveTheBitsOfInstructionsAlone) {
  const std::unique_ptr<Module> module = MakeModule(
      "x = f32[1200007] parameter(0) c = f32[] constant(0.75) d = f32[1200007] broadcast(c), dimensions={} "
      "y = f32[1200007] multiply(x, d) z = f32[1200007] subtract(y, d) w = f32[1200007] multiply(z, x) "
      "ROOT t = (f32[1200007], f32[1200007]) tuple(z, w)",
      "");
  std::mt19937_64 random(1);
  const Literal x = RandomLiteral(module->entry()->parameter(0)->shape(), random);
  std::string alone;
  for (const auto& [groups, threads] : {std::pair(false, 1), std::pair(true, 1), std::pair(true, 2)}) {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Executor> executor,
                         Executor::Create(*module, {.groups = groups}));
    std::vector<MeshValue> values;
    ASSERT_OK_AND_ASSIGN(values.emplace_back(), MeshValue::Uniform(x, 1));
    RunOptions options;
    options.threads = threads;
    ASSERT_OK_AND_ASSIGN(const MeshValue result, executor->Run(std::move(values), options));
    if (!groups) alone = BytesOf(result);
    EXPECT_TRUE(BytesOf(result) == alone) << threads << " threads";
  }
}

// The first run folds op by op, for it has fewer than 65,536 elements, later ones in machine code: the same bits in two bands
// (the first shape), in segments, with lines that fill no block, and on devices with values of their own.
TEST(GroupsTest, FoldsOfLinesAsCodeHaveTheBitsOfOpsOneByOne) {
  struct Case {
    std::string shape, reduced, result;
    int devices;
  };
  for (const auto& [shape, reduced, result, devices] :
       {Case{"4800,7", "0", "7", 1}, Case{"9,30,100", "1", "9,100", 1}, Case{"1500,7", "0", "7", 3},
        Case{"5,3,700", "1", "5,700", 3}}) {
    std::string body =
        "x = f32[S] parameter(0) z = f32[] constant(0) h = f32[] constant(0.5) "
        "b = f32[S] broadcast(h), dimensions={} y = f32[S] multiply(x, x) d = f32[S] subtract(x, b) "
        "s = f32[R] reduce(x, z), dimensions={D}, to_apply=add "
        "q = f32[R] reduce(y, z), dimensions={D}, to_apply=add "
        "m = f32[R] reduce(d, z), dimensions={D}, to_apply=max "
        "o = f32[R] reduce(b, z), dimensions={D}, to_apply=add "
        "ROOT t = (f32[R], f32[R], f32[R], f32[R], f32[S]) tuple(s, q, m, o, d)";
    body = absl::StrReplaceAll(body, {{"[S]", absl::StrCat("[", shape, "]")},
                                      {"[R]", absl::StrCat("[", result, "]")},
                                      {"{D}", absl::StrCat("{", reduced, "}")}});
    SCOPED_TRACE(body);
    const std::unique_ptr<Module> module =
        MakeModule(body, ReducerText("add", "f32", "add") + ReducerText("max", "f32", "maximum"));
    std::mt19937_64 random(1);
    std::vector<Literal> rows(devices);
    for (Literal& row : rows) row = RandomLiteral(module->entry()->parameter(0)->shape(), random);
    for (const int threads : {1, 2}) {
      ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Executor> executor, Executor::Create(*module));
      std::string first;
      for (int round = 0; round < 5; ++round) {
        std::vector<MeshValue> values;
        ASSERT_OK_AND_ASSIGN(values.emplace_back(), MeshValue::PerDevice(rows));
        RunOptions options;
        options.num_partitions = devices;
        options.threads = threads;
        ASSERT_OK_AND_ASSIGN(const MeshValue found, executor->Run(std::move(values), options));
        if (round == 0) first = BytesOf(found);
        EXPECT_TRUE(BytesOf(found) == first) << "round " << round << ", " << threads << " threads";
      }
    }
  }
}

// Elements that are read from a tuple of the same computation make the tuple, and what only it needed, superfluous.
TEST(GroupsTest, WhatOnlyADroppedTupleNeededIsDropped) {
  EXPECT_EQ(Evaluate("x = f32[3] parameter(0) a = f32[3] negate(x) b = f32[3] add(x, x) "
                     "t = (f32[3], f32[3]) tuple(a, b) ROOT g = f32[3] get-tuple-element(t), index=1",
                     "", {ParseLiteral("f32[3] {1, 2, 3}")}),
            "{2, 4, 6}");
}

// A bitcast sees the bytes by its layouts: it is a transpose here.
TEST(GroupsTest, BitcastsAreNoViews) {
  EXPECT_EQ(
      Evaluate("x = f32[2,2]{1,0} parameter(0) d = f32[2,2]{0,1} negate(x) t = f32[2,2]{1,0} bitcast(d) "
               "ROOT y = f32[2,2]{1,0} add(t, x)",
               "", {ParseLiteral("f32[2,2] {{1, 2}, {3, 4}}")}),
      "{ { 0, -1 }, { 1, 0 } }");
}

}  // namespace
}  // namespace toroid

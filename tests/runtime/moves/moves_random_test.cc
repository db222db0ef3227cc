// BUILD: size = "small"
// Chains of instructions that move elements: one step gives the bits that each instruction alone gives, on one device and on
// three, for values that are equal on all devices and values that are not, with one thread and with two.
#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/mesh_bytes.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using Sizes = std::vector<int64_t>;

// Writes a program of movement over a few small arrays, with some other instructions between.
class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {
    type_ = std::vector<std::string>{"s32", "u8", "f64", "s16"}[seed % 4];
  }

  std::string Body() {
    for (int p = 0; p < 3; ++p) {
      Sizes dims(1 + random_() % 3);
      for (int64_t& size : dims) size = random_() % 20 == 0 ? 0 : 1 + random_() % 9;
      if (random_() % 16 == 0)
        dims = {20'000, 1 + static_cast<int64_t>(random_() % 4)};  // Work for more than one thread.
      Add(std::move(dims), absl::StrCat("parameter(", p, ")"));
    }
    Add({}, "parameter(3)");
    const int ops = 2 + random_() % 14;
    for (int i = 0; i < ops; ++i)
      AddOp(values_[random_() % 3 == 0 ? random_() % values_.size() : values_.size() - 1]);
    std::vector<std::string> names, shapes;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (i + 1 < values_.size() && random_() % 8 != 0) continue;
      names.push_back(values_[i].name);
      shapes.push_back(ShapeText(values_[i].dims));
    }
    return absl::StrCat(text_, "ROOT r = (", absl::StrJoin(shapes, ", "), ") tuple(",
                        absl::StrJoin(names, ", "), ")");
  }

 private:
  struct Value {
    std::string name;
    Sizes dims;
  };

  std::string ShapeText(const Sizes& dims) const {
    return absl::StrCat(type_, "[", absl::StrJoin(dims, ","), "]");
  }

  Value Add(Sizes dims, const std::string& op) {
    Value value{absl::StrCat("v", values_.size()), std::move(dims)};
    absl::StrAppend(&text_, value.name, " = ", ShapeText(value.dims), " ", op, "\n");
    values_.push_back(value);
    return value;
  }

  // Parts of x along one dimension, of which the others are as they were, put together.
  void AddConcatenation(const Value& x) {
    const size_t d = random_() % x.dims.size();
    std::vector<Value> parts;
    for (const Value& value : values_) {
      if (value.dims.size() != x.dims.size()) continue;
      bool fits = true;
      for (size_t i = 0; i < x.dims.size(); ++i) fits &= i == d || value.dims[i] == x.dims[i];
      if (fits) parts.push_back(value);
    }
    std::shuffle(parts.begin(), parts.end(), random_);
    parts.resize(std::min<size_t>(parts.size(), 1 + random_() % 4));
    Sizes dims = x.dims;
    dims[d] = 0;
    std::vector<std::string> names;
    for (const Value& part : parts) {
      dims[d] += part.dims[d];
      names.push_back(part.name);
    }
    Add(dims, absl::StrCat("concatenate(", absl::StrJoin(names, ", "), "), dimensions={", d, "}"));
  }

  void AddSlice(const Value& x) {
    Sizes dims;
    std::vector<std::string> parts;
    for (const int64_t size : x.dims) {
      const int64_t start = size == 0 ? 0 : random_() % std::min<int64_t>(size, 4);
      const int64_t limit = size - (size - start > 1 ? random_() % 2 : 0), stride = 1 + (random_() % 4 == 0);
      dims.push_back((limit - start + stride - 1) / stride);
      parts.push_back(absl::StrCat("[", start, ":", limit, ":", stride, "]"));
    }
    Add(dims, absl::StrCat("slice(", x.name, "), slice={", absl::StrJoin(parts, ", "), "}"));
  }

  void AddPad(const Value& x) {
    Sizes dims;
    std::vector<std::string> parts;
    const bool between = random_() % 8 == 0;
    for (const int64_t size : x.dims) {
      const int64_t interior = between ? random_() % 2 : 0;
      const int64_t inside = size + std::max<int64_t>(0, size - 1) * interior;
      const int64_t low = static_cast<int64_t>(random_() % 5) - 2;
      const int64_t high = std::max<int64_t>(static_cast<int64_t>(random_() % 5) - 2, -inside - low);
      dims.push_back(inside + low + high);
      parts.push_back(absl::StrCat(low, "_", high, "_", interior));
    }
    Add(dims, absl::StrCat("pad(", x.name, ", v3), padding=", absl::StrJoin(parts, "x")));
  }

  void AddOp(const Value x) {
    const size_t rank = x.dims.size();
    if (rank == 0) {
      const Sizes dims = {static_cast<int64_t>(1 + random_() % 5)};
      Add(dims, absl::StrCat("broadcast(", x.name, "), dimensions={}"));
      return;
    }
    Sizes order(rank);
    std::iota(order.begin(), order.end(), 0);
    switch (random_() % 9) {
      case 0:
      case 1:
        return AddSlice(x);
      case 2:
        return AddPad(x);
      case 3:
      case 4:
        return AddConcatenation(x);
      case 5:
        Add(x.dims, absl::StrCat("reverse(", x.name, "), dimensions={", random_() % rank, "}"));
        return;
      case 6: {
        std::shuffle(order.begin(), order.end(), random_);
        Sizes dims;
        for (const int64_t d : order) dims.push_back(x.dims[d]);
        Add(dims, absl::StrCat("transpose(", x.name, "), dimensions={", absl::StrJoin(order, ","), "}"));
        return;
      }
      case 7: {
        Sizes dims = x.dims;
        const size_t at = random_() % (rank + 1);
        if (rank > 3) return AddSlice(x);
        if (random_() % 2 == 0) {
          dims.insert(dims.begin() + at, 1);
          Add(dims, absl::StrCat("reshape(", x.name, ")"));
          return;
        }
        dims.insert(dims.begin() + at, 2);
        for (int64_t& d : order) d += d >= static_cast<int64_t>(at);
        Add(dims, absl::StrCat("broadcast(", x.name, "), dimensions={", absl::StrJoin(order, ","), "}"));
        return;
      }
      default:
        Add(x.dims, absl::StrCat("negate(", x.name, ")"));
    }
  }

  std::mt19937_64 random_;
  std::string type_, text_;
  std::vector<Value> values_;
};

Literal RandomBytes(const Shape& shape, std::mt19937_64& random) {
  Literal literal(shape);
  char* bytes = literal.mutable_bytes();
  for (int64_t i = 0; i < shape.ByteSize(); ++i) bytes[i] = static_cast<char>(random() % 100);
  return literal;
}

TEST(MovesRandomTest, GiveTheBitsOfInstructionsAlone) {
  int moves = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    const std::string body = Writer(seed).Body();
    SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", body));
    const std::unique_ptr<Module> module = MakeModule(body);
    std::mt19937_64 random(seed);
    const int64_t devices = seed % 3 == 0 ? 3 : 1;
    std::vector<std::vector<Literal>> arguments;
    for (int p = 0; p < module->entry()->num_parameters(); ++p) {
      std::vector<Literal> rows(random() % 2 == 0 ? 1 : devices);
      for (Literal& row : rows) row = RandomBytes(module->entry()->parameter(p)->shape(), random);
      arguments.push_back(std::move(rows));
    }
    std::string alone;
    for (const auto& [groups, threads] : {std::pair(false, 1), std::pair(true, 1), std::pair(true, 2)}) {
      ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Executor> executor,
                           Executor::Create(*module, {.groups = groups}));
      if (threads == 2) moves += executor->PlanText().find("move of") != std::string::npos;
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
      if (!groups) alone = BytesOf(result);
      ASSERT_TRUE(BytesOf(result) == alone) << threads << " threads";
    }
  }
  EXPECT_GT(moves, 200);
}

}  // namespace
}  // namespace toroid

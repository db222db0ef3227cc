// Kinds of random programs: tuples passed on, tuples as arguments, sums with several users, sharding groups.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/random/generator.h"

namespace toroid {

// Values computed in several ways and cut in several ways, some of them partial, pass through an op that
// returns a tuple, perhaps a nested one.
void Generator::HandedOn() {
  const int64_t m = Size(), k = Size(), n = Size();
  const std::string a = Parameter("f32", {m, k}, -2, 2), b = Parameter("f32", {k, n}, -2, 2),
                    x = Parameter("f32", {m, n});
  const std::string out = ShapeText("f32", {m, n}), in = ShapeText("f32", {m, k});
  Line(absl::StrCat("dot = ", out, " dot(", a, ", ", b,
                    "), lhs_contracting_dims={1}, rhs_contracting_dims={0}"));
  const bool nested = Chance(50);
  const std::string inner = absl::StrCat("(", out, ", ", in, ", s32[])");
  const std::string shape = nested ? absl::StrCat("(", inner, ", ", out, ")")
                                   : absl::StrCat("(", out, ", ", in, ", s32[], ", out, ")");
  Line("seven = s32[] constant(7)");
  Line("token = token[] after-all()");
  Line(absl::StrCat("late = ", out, " add-dependency(", x, ", token)"));
  if (nested) {
    Line(absl::StrCat("inner = ", inner, " tuple(dot, ", a, ", seven)"));
    Line(absl::StrCat("t = ", shape, " tuple(inner, late)"));
  } else {
    Line(absl::StrCat("t = ", shape, " tuple(dot, ", a, ", seven, late)"));
  }
  const std::string op =
      Of({"opt-barrier(t)", "copy(t)", "custom-call(t), custom_call_target=\"MoveToDevice\"",
          "custom-call(t), custom_call_target=\"Sharding\""});
  Line(absl::StrCat("b = ", shape, " ", op));
  if (nested) Line(absl::StrCat("i = ", inner, " get-tuple-element(b), index=0"));
  const char* from = nested ? "i" : "b";
  Line(absl::StrCat("d = ", out, " get-tuple-element(", from, "), index=0"));
  Line(absl::StrCat("e = ", in, " get-tuple-element(", from, "), index=1"));
  Line(absl::StrCat("f = ", out, " get-tuple-element(b), index=", nested ? 1 : 3));
  const std::string c = Parameter("f32", {k, n}, -1, 1);
  Line(absl::StrCat("g = ", out, " dot(e, ", c, "), lhs_contracting_dims={1}, rhs_contracting_dims={0}"));
  Line(absl::StrCat("h = ", out, " add(d, f)"));
  Result("f32", {m, n}, absl::StrCat("add(h, g)"));
}

void Generator::TupleArgument() {
  const Dims x = RandomDims(1, 3), y = RandomDims(1, 2);
  const std::string s = Of({"s32", "f32", "u8"});
  const std::string first = ShapeText("f32", x), second = ShapeText(s, y);
  const bool nested = Chance(50);
  const std::string pair = absl::StrCat("(", first, ", ", second, ")");
  const std::string shape = nested ? absl::StrCat("(", pair, ", ", first, ")")
                                   : absl::StrCat("(", first, ", ", second, ", ", first, ")");
  std::vector<std::string> shardings;
  for (const Dims* dims : {&x, &y, &x}) {
    const std::string text = ShardingText(*dims);
    shardings.push_back(text.empty() ? "{replicated}" : text.substr(std::string(", sharding=").size()));
  }
  const std::string name = absl::StrCat("p", program_.arguments.size());
  Line(absl::StrCat(name, " = ", shape, " parameter(", program_.arguments.size(), "), sharding={",
                    absl::StrJoin(shardings, ", "), "}"));
  const auto values = [this](const std::string& type, const Dims& dims) {
    Literal literal(Shape(*TypeFromName(type), dims));
    for (int64_t i = 0; i < literal.shape().NumElements(); ++i) {
      const int64_t value = Uniform(0, 4);
      if (type == "f32") literal.mutable_data<float>()[i] = static_cast<float>(value);
      if (type == "s32") literal.mutable_data<int32_t>()[i] = static_cast<int32_t>(value);
      if (type == "u8") literal.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(value);
    }
    return literal;
  };
  std::vector<Literal> leaves;
  leaves.push_back(values("f32", x));
  leaves.push_back(values(s, y));
  Literal last = values("f32", x);
  if (nested) {
    std::vector<Literal> outer;
    outer.push_back(Literal::Tuple(std::move(leaves)));
    leaves = std::move(outer);
    Line(absl::StrCat("i = ", pair, " get-tuple-element(", name, "), index=0"));
  }
  leaves.push_back(std::move(last));
  program_.arguments.push_back(Literal::Tuple(std::move(leaves)));
  const std::string from = nested ? "i" : name;
  Line(absl::StrCat("d = ", first, " get-tuple-element(", from, "), index=0"));
  Line(absl::StrCat("e = ", second, " get-tuple-element(", from, "), index=1"));
  Line(absl::StrCat("f = ", first, " get-tuple-element(", name, "), index=", nested ? 1 : 2));
  Line(absl::StrCat("zero = ", s, "[] constant(0)"));
  Dims all;
  for (size_t d = 0; d < y.size(); ++d) all.push_back(static_cast<int64_t>(d));
  Line(absl::StrCat("sum = ", s, "[] reduce(e, zero), dimensions=", List(all),
                    ", to_apply=", ReducerText("add", s)));
  Line(absl::StrCat("c = f32[] convert(sum)"));
  Line(absl::StrCat("cb = ", first, " broadcast(c), dimensions={}"));
  Line(absl::StrCat("df = ", first, " subtract(d, f)"));
  Result("f32", x, "add(df, cb)");
}

// A sum over a cut dimension with several users, linear ones and others, which may use values derived from
// it.
void Generator::SharedSum() {
  const int64_t m = Size(), k = Size(), n = Size();
  const std::string a = Parameter("f32", {k, m}, -1, 1), b = Parameter("f32", {k, n}, -1, 1),
                    w = Parameter("f32", {m, n}, -1, 1);
  const std::string shape = ShapeText("f32", {m, n});
  Line(absl::StrCat("g = ", shape, " dot(", a, ", ", b,
                    "), lhs_contracting_dims={0}, rhs_contracting_dims={0}"));
  Line("zero = f32[] constant(0)");
  Line("two = f32[] constant(2)");
  Line(absl::StrCat("twos = ", shape, " broadcast(two), dimensions={}"));
  std::vector<std::string> values = {"g", w};
  for (int64_t i = Uniform(1, 5); i > 0; --i) {
    const std::string name = Fresh("v"), x = Pick(values), y = Pick(values);
    switch (Uniform(0, 5)) {
      case 0:
        Line(absl::StrCat(name, " = ", shape, " multiply(", x, ", twos)"));
        break;
      case 1:
        Line(absl::StrCat(name, " = ", shape, " negate(", x, ")"));
        break;
      case 2:
        Line(absl::StrCat(name, " = ", shape, " add(", x, ", ", y, ")"));
        break;
      case 3:
        Line(absl::StrCat(name, " = ", shape, " maximum(", x, ", ", y, ")"));
        break;
      case 4: {
        const std::string norm = Fresh("norm");
        Line(absl::StrCat(norm, " = f32[] dot(", x, ", ", y,
                          "), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}"));
        Line(absl::StrCat(name, "_flag = pred[] compare(", norm, ", zero), direction=GT"));
        Line(absl::StrCat(name, "_flags = pred[", m, ",", n, "] broadcast(", name, "_flag), dimensions={}"));
        Line(absl::StrCat(name, " = ", shape, " select(", name, "_flags, ", x, ", ", y, ")"));
        break;
      }
      default: {
        const std::string rows = Fresh("rows");
        Line(absl::StrCat(rows, " = f32[", m, "] reduce(", x,
                          ", zero), dimensions={1}, to_apply=", ReducerText("add", "f32")));
        Line(absl::StrCat(name, " = ", shape, " broadcast(", rows, "), dimensions={0}"));
        break;
      }
    }
    values.push_back(name);
  }
  Result("f32", {m, n}, absl::StrCat("subtract(", values.back(), ", ", Pick(values), ")"));
}

// Values that must be cut alike, or that shardings may not cross.
void Generator::GroupedShardings() {
  const Dims dims = RandomDims(1, 3);
  const std::string shape = ShapeText("f32", dims), x = Parameter("f32", dims), y = Parameter("f32", dims);
  Line(absl::StrCat("n = ", shape, " negate(", y, ")"));
  std::string from = "n";
  if (Chance(50)) {
    Line(absl::StrCat("j = ", shape, " custom-call(", x,
                      "), custom_call_target=\"Sharding\", sharding={unknown shard_as 4}"));
    Line(absl::StrCat("k = ", shape,
                      " custom-call(n), custom_call_target=\"Sharding\", sharding={unknown shard_as 4}"));
    from = "k";
  } else {
    for (const std::string& member : {x, std::string("n")}) {
      Line(absl::StrCat("group_", member, " = () custom-call(", member,
                        "), custom_call_target=\"xla.sdy.ShardingGroup\", custom_call_has_side_effect=true, "
                        "frontend_attributes={xla.sdy.sharding_group_id=\"0 : i64\"}"));
    }
  }
  if (Chance(50)) {
    Line(absl::StrCat("barrier = ", shape, " custom-call(", from, "), custom_call_target=\"",
                      Of({"ShardBarrierFrom", "ShardBarrierTo", "xla.sdy.PropagationBarrier"}), "\""));
    from = "barrier";
  }
  Result("f32", dims, absl::StrCat("add(", x, ", ", from, ")"));
}

}  // namespace toroid

#include "hlo/io/sdy_sharding.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/devices/hlo_sharding.h"

namespace toroid {
namespace {

// A scanner over the text; every Take skips white space first.
class Scanner {
 public:
  explicit Scanner(absl::string_view text) : text_(text) {}

  bool Take(absl::string_view token) {
    Skip();
    if (!absl::StartsWith(text_.substr(at_), token)) return false;
    at_ += token.size();
    return true;
  }
  absl::Status Expect(absl::string_view token) {
    return Take(token) ? absl::OkStatus() : Error(absl::StrCat("expected '", token, "'"));
  }
  absl::StatusOr<int64_t> Integer() {
    Skip();
    const bool negative = Take("-");
    size_t digits = 0;
    int64_t value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
      const int64_t digit = text_[at_] - '0';
      if (value > (std::numeric_limits<int64_t>::max() - digit) / 10) return Error("integer out of range");
      value = value * 10 + digit;
      ++at_;
      ++digits;
    }
    if (digits == 0) return Error("expected an integer");
    return negative ? -value : value;
  }
  absl::StatusOr<std::string> Quoted() {
    RETURN_IF_ERROR(Expect("\""));
    const size_t end = text_.find('"', at_);
    if (end == absl::string_view::npos) return Error("unterminated string");
    std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }
  // A name, quoted or not.
  absl::StatusOr<std::string> Name() {
    Skip();
    if (at_ < text_.size() && text_[at_] == '"') return Quoted();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' ||
                                  text_[at_] == '.' || text_[at_] == '-' || text_[at_] == '$')) {
      ++at_;
    }
    if (at_ == begin) return Error("expected a name");
    return std::string(text_.substr(begin, at_ - begin));
  }
  bool AtEnd() {
    Skip();
    return at_ == text_.size();
  }
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("sdy attribute, column ", at_ + 1, ": ", what, " in: ", text_.substr(0, 200)));
  }

 private:
  void Skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  absl::string_view text_;
  size_t at_ = 0;
};

absl::StatusOr<SdyMesh> TakeMesh(Scanner& in) {
  SdyMesh mesh;
  RETURN_IF_ERROR(in.Expect("["));
  int64_t devices = 1;
  while (!in.Take("]")) {
    if (!mesh.axes.empty()) RETURN_IF_ERROR(in.Expect(","));
    SdyMesh::Axis axis;
    ASSIGN_OR_RETURN(axis.name, in.Quoted());
    RETURN_IF_ERROR(in.Expect("="));
    ASSIGN_OR_RETURN(axis.size, in.Integer());
    const std::optional<int64_t> product = CheckedMultiply(devices, axis.size);
    if (axis.size < 1 || !product || *product > int64_t{1} << 24)
      return in.Error("mesh axis size out of range");
    devices = *product;
    for (const SdyMesh::Axis& other : mesh.axes) {
      if (other.name == axis.name) return in.Error(absl::StrCat("the mesh has two axes \"", axis.name, "\""));
    }
    mesh.axes.push_back(std::move(axis));
  }
  if (in.Take(",")) {
    RETURN_IF_ERROR(in.Expect("device_ids"));
    RETURN_IF_ERROR(in.Expect("="));
    RETURN_IF_ERROR(in.Expect("["));
    while (!in.Take("]")) {
      if (!mesh.device_ids.empty()) RETURN_IF_ERROR(in.Expect(","));
      ASSIGN_OR_RETURN(const int64_t id, in.Integer());
      mesh.device_ids.push_back(id);
    }
    if (!mesh.axes.empty() && static_cast<int64_t>(mesh.device_ids.size()) != devices) {
      return in.Error("device_ids do not list every device");
    }
    if (!mesh.axes.empty()) {
      const absl::StatusOr<DeviceOrder> order = DeviceOrder::Explicit(mesh.device_ids);
      if (!order.ok()) return in.Error(absl::StrCat("device_ids: ", order.status().message()));
    }
  }
  return mesh;
}

absl::StatusOr<SdyAxisRef> TakeAxis(Scanner& in, const SdyMesh& mesh) {
  SdyAxisRef ref;
  ASSIGN_OR_RETURN(ref.name, in.Quoted());
  int64_t size = 0;
  for (const SdyMesh::Axis& axis : mesh.axes) {
    if (axis.name == ref.name) size = axis.size;
  }
  if (size == 0) return in.Error(absl::StrCat("the mesh has no axis \"", ref.name, "\""));
  if (in.Take(":")) {
    RETURN_IF_ERROR(in.Expect("("));
    ASSIGN_OR_RETURN(ref.pre, in.Integer());
    RETURN_IF_ERROR(in.Expect(")"));
    ASSIGN_OR_RETURN(ref.size, in.Integer());
    if (ref.size == 1) return in.Error("a sub-axis of size 1 cuts nothing; leave it out");
    if (ref.pre < 1 || ref.size < 1 || ref.pre > size || ref.size > size ||
        size % (ref.pre * ref.size) != 0) {
      return in.Error("the sub-axis does not divide its axis");
    }
  }
  return ref;
}

absl::Status TakeAxisSet(Scanner& in, const SdyMesh& mesh, std::vector<SdyAxisRef>* axes) {
  RETURN_IF_ERROR(in.Expect("{"));
  while (!in.Take("}")) {
    if (!axes->empty()) RETURN_IF_ERROR(in.Expect(","));
    ASSIGN_OR_RETURN(SdyAxisRef ref, TakeAxis(in, mesh));
    axes->push_back(std::move(ref));
  }
  return absl::OkStatus();
}

absl::StatusOr<SdyDim> TakeDim(Scanner& in, const SdyMesh& mesh) {
  SdyDim dim;
  RETURN_IF_ERROR(in.Expect("{"));
  while (!in.Take("}")) {
    if (dim.open) return in.Error("'?' is the last entry of a dimension");
    if (!dim.axes.empty()) RETURN_IF_ERROR(in.Expect(","));
    if (in.Take("?")) {
      dim.open = true;
      continue;
    }
    ASSIGN_OR_RETURN(SdyAxisRef ref, TakeAxis(in, mesh));
    dim.axes.push_back(std::move(ref));
  }
  if (in.Take("p")) {
    ASSIGN_OR_RETURN(const int64_t priority, in.Integer());
    if (priority < 0 || priority > 1000000) return in.Error("priority out of range");
    dim.priority = static_cast<int>(priority);
  }
  return dim;
}

// The parts of one axis that a reference covers: from `pre` up to `pre * size`.
bool Overlap(const SdyAxisRef& a, const SdyAxisRef& b, const SdyMesh& mesh) {
  if (a.name != b.name) return false;
  int64_t whole = 1;
  for (const SdyMesh::Axis& axis : mesh.axes) {
    if (axis.name == a.name) whole = axis.size;
  }
  const auto end = [&](const SdyAxisRef& ref) { return ref.size == 0 ? whole : ref.pre * ref.size; };
  return std::max(a.pre, b.pre) < std::min(end(a), end(b));
}

// No axis, or part of one, cuts two dimensions, or cuts one and is replicated or unreduced as well.
absl::Status CheckAxesAreUsedOnce(Scanner& in, const SdySharding& sharding) {
  std::vector<const SdyAxisRef*> used;
  const auto use = [&](const std::vector<SdyAxisRef>& axes) -> absl::Status {
    for (const SdyAxisRef& axis : axes) {
      for (const SdyAxisRef* other : used) {
        if (Overlap(axis, *other, sharding.mesh)) {
          return in.Error(absl::StrCat("axis \"", axis.name, "\" is used twice"));
        }
      }
      used.push_back(&axis);
    }
    return absl::OkStatus();
  };
  for (const SdyDim& dim : sharding.dims) RETURN_IF_ERROR(use(dim.axes));
  RETURN_IF_ERROR(use(sharding.replicated));
  return use(sharding.unreduced);
}

// mesh, [dims], replicated={...}, unreduced={...} up to ">".
absl::StatusOr<SdySharding> TakeBody(Scanner& in, const SdyMeshes& meshes) {
  SdySharding sharding;
  if (in.Take("mesh<")) {
    ASSIGN_OR_RETURN(sharding.mesh, TakeMesh(in));
    RETURN_IF_ERROR(in.Expect(">"));
  } else {
    RETURN_IF_ERROR(in.Expect("@"));
    ASSIGN_OR_RETURN(const std::string name, in.Name());
    const auto it = meshes.find(name);
    if (it == meshes.end()) return in.Error(absl::StrCat("the module has no mesh @", name));
    sharding.mesh = it->second;
  }
  RETURN_IF_ERROR(in.Expect(","));
  RETURN_IF_ERROR(in.Expect("["));
  while (!in.Take("]")) {
    if (!sharding.dims.empty()) RETURN_IF_ERROR(in.Expect(","));
    ASSIGN_OR_RETURN(SdyDim dim, TakeDim(in, sharding.mesh));
    sharding.dims.push_back(std::move(dim));
  }
  while (in.Take(",")) {
    if (in.Take("replicated")) {
      RETURN_IF_ERROR(in.Expect("="));
      RETURN_IF_ERROR(TakeAxisSet(in, sharding.mesh, &sharding.replicated));
    } else {
      RETURN_IF_ERROR(in.Expect("unreduced"));
      RETURN_IF_ERROR(in.Expect("="));
      if (in.Take("max") || in.Take("min")) return in.Error("unreduced max and min are not known here");
      RETURN_IF_ERROR(TakeAxisSet(in, sharding.mesh, &sharding.unreduced));
    }
  }
  RETURN_IF_ERROR(in.Expect(">"));
  RETURN_IF_ERROR(CheckAxesAreUsedOnce(in, sharding));
  return sharding;
}

// "ij" and "iz_1" are two factors each: a letter, and perhaps "_" with a number.
absl::StatusOr<std::vector<std::string>> TakeFactors(Scanner& in) {
  ASSIGN_OR_RETURN(const std::string run, in.Name());
  std::vector<std::string> names;
  for (size_t at = 0; at < run.size();) {
    if (!std::isalpha(static_cast<unsigned char>(run[at])))
      return in.Error("expected a factor such as i or z_1");
    size_t end = at + 1;
    if (end < run.size() && run[end] == '_') {
      ++end;
      const size_t digits = end;
      while (end < run.size() && std::isdigit(static_cast<unsigned char>(run[end]))) ++end;
      if (end == digits) return in.Error("expected a number behind the factor's _");
    }
    names.push_back(run.substr(at, end - at));
    at = end;
  }
  return names;
}

// "[i, jk], []": the dimensions of tensors by the names of their factors, up to ")".
using NamedTensor = std::vector<std::vector<std::string>>;
absl::StatusOr<std::vector<NamedTensor>> TakeTensors(Scanner& in) {
  std::vector<NamedTensor> tensors;
  RETURN_IF_ERROR(in.Expect("("));
  while (!in.Take(")")) {
    if (!tensors.empty()) RETURN_IF_ERROR(in.Expect(","));
    RETURN_IF_ERROR(in.Expect("["));
    NamedTensor& tensor = tensors.emplace_back();
    while (!in.Take("]")) {
      if (!tensor.empty()) RETURN_IF_ERROR(in.Expect(","));
      ASSIGN_OR_RETURN(std::vector<std::string> dim, TakeFactors(in));
      tensor.push_back(std::move(dim));
    }
  }
  return tensors;
}

// The number of a factor in the rule.
absl::StatusOr<int> FindFactor(const Scanner& in, const SdyShardingRule& rule, const std::string& name) {
  for (size_t i = 0; i < rule.factors.size(); ++i) {
    if (rule.factors[i].name == name) return static_cast<int>(i);
  }
  return in.Error(absl::StrCat("the rule gives factor ", name, " no size"));
}

absl::StatusOr<std::vector<SdyShardingRule::Tensor>> Numbered(const Scanner& in, const SdyShardingRule& rule,
                                                              const std::vector<NamedTensor>& named) {
  std::vector<SdyShardingRule::Tensor> tensors;
  for (const NamedTensor& tensor : named) {
    tensors.emplace_back();
    for (const std::vector<std::string>& dim : tensor) {
      std::vector<int>& numbers = tensors.back().emplace_back();
      for (const std::string& name : dim) {
        ASSIGN_OR_RETURN(const int number, FindFactor(in, rule, name));
        numbers.push_back(number);
      }
    }
  }
  return tensors;
}

// reduction={k} need_replication={i, j} ... : marks the factors.
absl::Status TakeMarks(Scanner& in, SdyShardingRule* rule) {
  using Factor = SdyShardingRule::Factor;
  static constexpr std::pair<absl::string_view, bool Factor::*> kMarks[] = {
      {"reduction", &Factor::is_reduction},
      {"need_replication", &Factor::needs_replication},
      {"permutation", &Factor::is_permutation},
      {"blocked_propagation", &Factor::is_blocked}};
  for (const auto& [word, mark] : kMarks) {
    if (!in.Take(word)) continue;
    RETURN_IF_ERROR(in.Expect("="));
    RETURN_IF_ERROR(in.Expect("{"));
    bool first = true;
    while (!in.Take("}")) {
      if (!first) RETURN_IF_ERROR(in.Expect(","));
      first = false;
      ASSIGN_OR_RETURN(const std::vector<std::string> names, TakeFactors(in));
      for (const std::string& name : names) {
        ASSIGN_OR_RETURN(const int factor, FindFactor(in, *rule, name));
        rule->factors[factor].*mark = true;
      }
    }
  }
  return absl::OkStatus();
}

// Some writers escape quotes inside the value.
std::string Unescaped(absl::string_view text) {
  std::string out(text);
  if (absl::StrContains(text, "\\\"")) absl::CUnescape(text, &out);
  return out;
}

}  // namespace

int64_t SdyMesh::NumDevices() const {
  int64_t n = 1;
  for (const Axis& axis : axes) n *= axis.size;
  return n;
}

absl::StatusOr<SdyMeshes> ParseSdyMeshes(absl::string_view text) {
  const std::string unescaped = Unescaped(text);
  Scanner in(unescaped);
  SdyMeshes meshes;
  RETURN_IF_ERROR(in.Expect("{"));
  while (!in.Take("}")) {
    if (!meshes.empty()) RETURN_IF_ERROR(in.Expect(","));
    ASSIGN_OR_RETURN(const std::string name, in.Name());
    RETURN_IF_ERROR(in.Expect("="));
    RETURN_IF_ERROR(in.Expect("#sdy.mesh<"));
    ASSIGN_OR_RETURN(SdyMesh mesh, TakeMesh(in));
    RETURN_IF_ERROR(in.Expect(">"));
    if (!meshes.emplace(name, std::move(mesh)).second) {
      return in.Error(absl::StrCat("the module has two meshes @", name));
    }
  }
  return meshes;
}

absl::StatusOr<std::vector<SdySharding>> ParseSdyShardings(absl::string_view text, const SdyMeshes& meshes) {
  const std::string unescaped = Unescaped(text);
  Scanner in(unescaped);
  std::vector<SdySharding> shardings;
  if (in.Take("#sdy.sharding_per_value<")) {
    RETURN_IF_ERROR(in.Expect("["));
    while (!in.Take("]")) {
      if (!shardings.empty()) RETURN_IF_ERROR(in.Expect(","));
      RETURN_IF_ERROR(in.Expect("<"));
      ASSIGN_OR_RETURN(SdySharding sharding, TakeBody(in, meshes));
      shardings.push_back(std::move(sharding));
    }
    RETURN_IF_ERROR(in.Expect(">"));
  } else {
    RETURN_IF_ERROR(in.Expect("#sdy.sharding<"));
    ASSIGN_OR_RETURN(SdySharding sharding, TakeBody(in, meshes));
    shardings.push_back(std::move(sharding));
  }
  if (!in.AtEnd()) return in.Error("text after the sharding");
  return shardings;
}

absl::StatusOr<std::vector<std::string>> ParseSdyManualAxes(absl::string_view text) {
  const std::string unescaped = Unescaped(text);
  Scanner in(unescaped);
  std::vector<std::string> axes;
  RETURN_IF_ERROR(in.Expect("#sdy<manual_axes{"));
  while (!in.Take("}")) {
    if (!axes.empty()) RETURN_IF_ERROR(in.Expect(","));
    ASSIGN_OR_RETURN(std::string name, in.Quoted());
    axes.push_back(std::move(name));
  }
  RETURN_IF_ERROR(in.Expect(">"));
  return axes;
}

absl::StatusOr<SdyShardingRule> ParseSdyShardingRule(absl::string_view text) {
  const std::string unescaped = Unescaped(text);
  Scanner in(unescaped);
  SdyShardingRule rule;
  RETURN_IF_ERROR(in.Expect("#sdy.op_sharding_rule<"));
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> operands, TakeTensors(in));
  RETURN_IF_ERROR(in.Expect("->"));
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> results, TakeTensors(in));
  RETURN_IF_ERROR(in.Expect("{"));
  while (!in.Take("}")) {
    if (!rule.factors.empty()) RETURN_IF_ERROR(in.Expect(","));
    SdyShardingRule::Factor factor;
    ASSIGN_OR_RETURN(factor.name, in.Name());
    RETURN_IF_ERROR(in.Expect("="));
    ASSIGN_OR_RETURN(factor.size, in.Integer());
    if (factor.size < 0) return in.Error("a factor has a negative size");
    rule.factors.push_back(std::move(factor));
  }
  RETURN_IF_ERROR(TakeMarks(in, &rule));
  if (in.Take(",")) RETURN_IF_ERROR(in.Expect("custom"));
  RETURN_IF_ERROR(in.Expect(">"));
  if (!in.AtEnd()) return in.Error("text after the rule");
  ASSIGN_OR_RETURN(rule.operands, Numbered(in, rule, operands));
  ASSIGN_OR_RETURN(rule.results, Numbered(in, rule, results));
  return rule;
}

std::string SdyShardingToString(const SdySharding& sharding, absl::string_view mesh_name) {
  const auto axis = [](std::string* out, const SdyAxisRef& ref) {
    absl::StrAppend(out, "\"", ref.name, "\"");
    if (ref.size > 0) absl::StrAppend(out, ":(", ref.pre, ")", ref.size);
  };
  std::string out = absl::StrCat("#sdy.sharding<@", mesh_name, ", [");
  for (size_t i = 0; i < sharding.dims.size(); ++i) {
    const SdyDim& dim = sharding.dims[i];
    absl::StrAppend(&out, i > 0 ? ", " : "", "{", absl::StrJoin(dim.axes, ", ", axis));
    if (dim.open) absl::StrAppend(&out, dim.axes.empty() ? "?" : ", ?");
    out += "}";
    if (dim.priority > 0) absl::StrAppend(&out, "p", dim.priority);
  }
  out += "]";
  if (!sharding.replicated.empty()) {
    absl::StrAppend(&out, ", replicated={", absl::StrJoin(sharding.replicated, ", ", axis), "}");
  }
  if (!sharding.unreduced.empty()) {
    absl::StrAppend(&out, ", unreduced={", absl::StrJoin(sharding.unreduced, ", ", axis), "}");
  }
  return out + ">";
}

}  // namespace toroid

#include "hlo/io/mesh_text.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/devices/device_limit.h"

namespace toroid {

bool AtMesh(TextScanner* scanner) { return scanner->PeekWord() == "mesh"; }

absl::StatusOr<int64_t> DeviceCount(const std::vector<int64_t>& dims, TextScanner* scanner) {
  int64_t count = 1;
  for (const int64_t size : dims) {
    if (size < 1) return scanner->Error(absl::StrCat("size ", size, " is not positive"));
    if (size > kMaxDevices / count)
      return scanner->Error(absl::StrCat("more than ", kMaxDevices, " devices"));
    count *= size;
  }
  return count;
}

absl::Status ParseIota(TextScanner* scanner, std::vector<int64_t>* dims, std::vector<int64_t>* permutation) {
  ASSIGN_OR_RETURN(*dims, scanner->IntegerList("[", "]"));
  if (dims->empty()) return scanner->Error("expected the sizes of the iota before this");
  RETURN_IF_ERROR(DeviceCount(*dims, scanner).status());
  const size_t end = scanner->Position();
  const bool transposed = scanner->ConsumeWord("T") && scanner->Peek() == '(';
  if (transposed) {
    ASSIGN_OR_RETURN(*permutation, scanner->IntegerList("(", ")"));
  } else {
    scanner->Reset(end);  // A name T may follow.
    permutation->resize(dims->size());
    for (size_t i = 0; i < dims->size(); ++i) (*permutation)[i] = static_cast<int64_t>(i);
  }
  std::vector<bool> seen(dims->size(), false);
  for (const int64_t d : *permutation) {
    if (d < 0 || d >= static_cast<int64_t>(dims->size()) || seen[d] || permutation->size() != dims->size()) {
      return scanner->Error("T(...) before this is no permutation of the iota's dimensions");
    }
    seen[d] = true;
  }
  if (permutation->size() != dims->size()) return scanner->Error("T(...) before this is too short");
  return absl::OkStatus();
}

namespace {

absl::Status ParseDeviceIds(int64_t count, TextScanner* scanner, xla::MeshProto* mesh) {
  RETURN_IF_ERROR(scanner->Expect("("));
  int64_t found = 1;
  if (scanner->Peek() == '[') {
    std::vector<int64_t> dims, permutation;
    RETURN_IF_ERROR(ParseIota(scanner, &dims, &permutation));
    ASSIGN_OR_RETURN(found, DeviceCount(dims, scanner));
    mesh->mutable_iota_transform()->mutable_reshape_dims()->Add(dims.begin(), dims.end());
    mesh->mutable_iota_transform()->mutable_transpose_perm()->Add(permutation.begin(), permutation.end());
  } else {
    do {
      ASSIGN_OR_RETURN(const int64_t id, scanner->Integer());
      mesh->add_device_ids(id);
    } while (scanner->Consume(","));
    found = mesh->device_ids_size();
  }
  if (found != count) {
    return scanner->Error(absl::StrCat("device_ids lists ", found, " devices of a mesh of ", count));
  }
  return scanner->Expect(")");
}

}  // namespace

absl::Status ParseMesh(TextScanner* scanner, xla::MeshProto* mesh) {
  if (!scanner->ConsumeWord("mesh")) return scanner->Error("expected a mesh");
  std::vector<int64_t> sizes;
  RETURN_IF_ERROR(scanner->List("[", "]", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(std::string name, scanner->String());
    for (const xla::MeshProto::MeshAxis& other : mesh->axes()) {
      if (other.name() == name) return scanner->Error(absl::StrCat("axis '", name, "' occurs twice"));
    }
    RETURN_IF_ERROR(scanner->Expect("="));
    ASSIGN_OR_RETURN(const int64_t size, scanner->Integer());
    sizes.push_back(size);
    xla::MeshProto::MeshAxis* axis = mesh->add_axes();
    axis->set_name(std::move(name));
    axis->set_size(size);
    return absl::OkStatus();
  }));
  ASSIGN_OR_RETURN(const int64_t count, DeviceCount(sizes, scanner));
  const size_t after_mesh = scanner->Position();
  if (scanner->Consume(",") && scanner->ConsumeWord("device_ids")) {
    RETURN_IF_ERROR(scanner->Expect("="));
    return ParseDeviceIds(count, scanner, mesh);
  }
  scanner->Reset(after_mesh);
  return absl::OkStatus();
}

std::string MeshToString(const xla::MeshProto& mesh) {
  std::string out =
      absl::StrCat("mesh[",
                   absl::StrJoin(mesh.axes(), ",",
                                 [](std::string* s, const xla::MeshProto::MeshAxis& axis) {
                                   absl::StrAppend(s, "'", absl::CEscape(axis.name()), "'=", axis.size());
                                 }),
                   "]");
  if (mesh.has_iota_transform()) {
    absl::StrAppend(&out, ", device_ids=([", absl::StrJoin(mesh.iota_transform().reshape_dims(), ","), "]T(",
                    absl::StrJoin(mesh.iota_transform().transpose_perm(), ","), "))");
  } else if (mesh.device_ids_size() > 0) {
    absl::StrAppend(&out, ", device_ids=(", absl::StrJoin(mesh.device_ids(), ","), ")");
  }
  return out;
}

absl::Status ParseAxis(const xla::MeshProto& mesh, TextScanner* scanner, xla::AxisRefProto* axis) {
  const size_t begin = scanner->Position();
  ASSIGN_OR_RETURN(const std::string name, scanner->String());
  int index = 0;
  while (index < mesh.axes_size() && mesh.axes(index).name() != name) ++index;
  if (index == mesh.axes_size())
    return scanner->ErrorAt(begin, absl::StrCat("the mesh has no axis '", name, "'"));
  axis->set_mesh_axis_index(index);
  if (!scanner->Consume(":")) return absl::OkStatus();
  RETURN_IF_ERROR(scanner->Expect("("));
  ASSIGN_OR_RETURN(const int64_t pre_size, scanner->Integer());
  RETURN_IF_ERROR(scanner->Expect(")"));
  ASSIGN_OR_RETURN(const int64_t size, scanner->Integer());
  const int64_t full = mesh.axes(index).size();
  if (pre_size < 1 || size < 1 || pre_size > full || full % pre_size != 0 || (full / pre_size) % size != 0) {
    return scanner->ErrorAt(begin, absl::StrCat("sub-axis (", pre_size, ")", size, " does not divide axis '",
                                                name, "' of size ", full));
  }
  axis->mutable_sub_axis_info()->set_pre_size(pre_size);
  axis->mutable_sub_axis_info()->set_size(size);
  return absl::OkStatus();
}

std::string AxisToString(const xla::MeshProto& mesh, const xla::AxisRefProto& axis) {
  const int64_t index = axis.mesh_axis_index();
  std::string out = index >= 0 && index < mesh.axes_size()
                        ? absl::StrCat("'", absl::CEscape(mesh.axes(static_cast<int>(index)).name()), "'")
                        : absl::StrCat("'#", index, "'");
  if (axis.has_sub_axis_info()) {
    absl::StrAppend(&out, ":(", axis.sub_axis_info().pre_size(), ")", axis.sub_axis_info().size());
  }
  return out;
}

absl::Status ParseAxes(const xla::MeshProto& mesh, TextScanner* scanner, AxisRefs* axes) {
  return scanner->List("{", "}", [&] { return ParseAxis(mesh, scanner, axes->Add()); });
}

std::string AxesToString(const xla::MeshProto& mesh, const AxisRefs& axes) {
  return absl::StrCat("{",
                      absl::StrJoin(axes, ",",
                                    [&](std::string* s, const xla::AxisRefProto& axis) {
                                      s->append(AxisToString(mesh, axis));
                                    }),
                      "}");
}

}  // namespace toroid

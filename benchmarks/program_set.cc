#include "benchmarks/program_set.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/tables.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "runtime/arguments/zip_archive.h"

namespace toroid {
namespace {

constexpr char kIndex[] = "index.tsv";

// The files of a set, by name.
class Files {
 public:
  virtual ~Files() = default;
  virtual absl::StatusOr<std::string> Read(const std::string& name) = 0;
};

class Archive : public Files {
 public:
  static absl::StatusOr<std::unique_ptr<Files>> Open(const std::string& path) {
    auto opened = std::make_unique<Archive>();
    ASSIGN_OR_RETURN(opened->bytes_, ReadFile(path));
    ASSIGN_OR_RETURN(opened->archive_, OpenZip(opened->bytes_));
    const int64_t members = zip_get_num_entries(opened->archive_.get(), 0);
    for (int64_t i = 0; i < members; ++i) {
      opened->members_[ZipMemberName(opened->archive_.get(), static_cast<uint64_t>(i))] =
          static_cast<uint64_t>(i);
    }
    return opened;
  }
  absl::StatusOr<std::string> Read(const std::string& name) override {
    const auto member = members_.find(name);
    if (member == members_.end()) return absl::NotFoundError(absl::StrCat("the archive has no ", name));
    return ReadZipMember(archive_.get(), member->second, kMaxFileBytes);
  }

 private:
  std::string bytes_;
  ZipArchive archive_;
  absl::flat_hash_map<std::string, uint64_t> members_;
};

class Folder : public Files {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}
  absl::StatusOr<std::string> Read(const std::string& name) override {
    const std::string file = absl::StrCat(path_, "/", name);
    return ReadInput(std::filesystem::exists(file) ? file : file + ".gz");
  }

 private:
  const std::string path_;
};

absl::StatusOr<std::unique_ptr<Files>> Open(const std::string& path) {
  if (std::filesystem::is_directory(path)) return std::make_unique<Folder>(path);
  return Archive::Open(path);
}

absl::StatusOr<double> PercentageOrNone(const std::string& field) {
  if (field == "-") return -1;
  return Number(field);
}

absl::StatusOr<std::vector<EstimatedProgram>> ReadAll(Files* files, Programs which) {
  ASSIGN_OR_RETURN(const std::string index, files->Read(kIndex));
  ASSIGN_OR_RETURN(const auto rows, ParseTable(index, 6));
  std::vector<EstimatedProgram> programs;
  for (size_t i = 0; i < rows.size(); ++i) {
    EstimatedProgram program;
    program.name = rows[i][0];
    ASSIGN_OR_RETURN(program.compiler_us, Number(rows[i][1]));
    ASSIGN_OR_RETURN(program.temporary_bytes, Number(rows[i][2]));
    program.is_whole = rows[i][3] == "-";
    program.kind = rows[i][5];
    program.row = static_cast<int>(i);
    if (program.compiler_us == 0 || (which == Programs::kWhole && !program.is_whole)) continue;
    ASSIGN_OR_RETURN(const std::string bytes, files->Read(program.name + ".hlo.pb"));
    absl::StatusOr<HloFile> file = ReadHlo(bytes);
    if (!file.ok()) return Annotate(file.status(), program.name);
    program.file = *std::move(file);
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace

absl::StatusOr<std::vector<Batch>> ReadManifest(const std::string& corpus) {
  ASSIGN_OR_RETURN(const auto rows, ReadTable(corpus + "/batches.tsv", 14));
  std::vector<Batch> batches;
  for (const std::vector<std::string>& row : rows) {
    Batch batch;
    batch.number = row[0];
    batch.machine = row[1];
    batch.name = row[2];
    batch.made = row[3];
    batch.compiler = row[4];
    batch.is_blind = row[5] == "blind";
    ASSIGN_OR_RETURN(batch.first_median, PercentageOrNone(row[9]));
    ASSIGN_OR_RETURN(batch.first_ninetieth, PercentageOrNone(row[10]));
    ASSIGN_OR_RETURN(batch.first_worst, PercentageOrNone(row[11]));
    batch.path = absl::StrCat(corpus, "/", row[12]);
    batch.what = row[13];
    batches.push_back(std::move(batch));
  }
  return batches;
}

absl::StatusOr<Batch> FindBatch(const std::string& corpus, absl::string_view name) {
  ASSIGN_OR_RETURN(std::vector<Batch> batches, ReadManifest(corpus));
  for (Batch& batch : batches) {
    if (batch.name == name) return std::move(batch);
  }
  return absl::NotFoundError(absl::StrCat(corpus, "/batches.tsv has no batch ", name));
}

absl::StatusOr<std::vector<EstimatedProgram>> ReadPrograms(const std::string& path, Programs which) {
  absl::StatusOr<std::unique_ptr<Files>> files = Open(path);
  if (!files.ok()) return Annotate(files.status(), path);
  absl::StatusOr<std::vector<EstimatedProgram>> programs = ReadAll(files->get(), which);
  if (!programs.ok()) return Annotate(programs.status(), path);
  return programs;
}

}  // namespace toroid

#include "hlo/io/hlo_text.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/io/attribute_text.h"
#include "hlo/io/hlo_text_names.h"
#include "hlo/io/hlo_text_parser.h"
#include "hlo/io/literal_text.h"
#include "hlo/io/metadata_text.h"
#include "hlo/io/module_header_text.h"
#include "hlo/io/sharding_text.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/schedule.h"

namespace toroid {
namespace {

class Printer {
 public:
  Printer(const PrintOptions& options, std::function<std::string(const Instruction&)> instruction_name,
          ComputationName computation_name, std::string* out)
      : options_(options),
        instruction_name_(std::move(instruction_name)),
        percent_(options.percent ? "%" : ""),
        out_(*out) {
    computation_name_ = [this, name = std::move(computation_name)](const Computation& computation) {
      return absl::StrCat(percent_, name(computation));
    };
  }

  void PrintComputation(const Computation& computation, bool entry) {
    absl::StrAppend(&out_, entry ? "ENTRY " : "", computation_name_(computation), " ");
    if (options_.signatures) {
      out_ += "(";
      for (int i = 0; i < computation.num_parameters(); ++i) {
        Separate(i);
        const Instruction& parameter = *computation.parameter(i);
        absl::StrAppend(&out_, instruction_name_(parameter), ": ", parameter.shape().ToString());
      }
      absl::StrAppend(&out_, ") -> ", computation.root()->shape().ToString(), " ");
    }
    out_ += "{\n";
    for (const Instruction* instruction : ExecutionOrder(computation)) {
      out_ += "  ";
      Print(*instruction);
      out_ += "\n";
    }
    out_ += "}";
    if (!computation.execution_thread().empty() && computation.execution_thread() != "main") {
      absl::StrAppend(&out_, ", execution_thread=", Quoted(computation.execution_thread()));
    }
    out_ += "\n";
  }

  void Print(const Instruction& instruction) {
    if (instruction.computation()->root() == &instruction) out_ += "ROOT ";
    absl::StrAppend(&out_, percent_, instruction_name_(instruction), " = ",
                    instruction.shape().ToString(options_.layouts), " ",
                    SpellableName(instruction.opcode_name(), "unknown"), "(");
    PrintOperands(instruction);
    out_ += ")";
    AppendAttributes(instruction, computation_name_, &out_);
    PrintCommonAttributes(instruction);
  }

 private:
  void Separate(int i) {
    if (i > 0) out_ += ", ";
    if (i > 0 && i % 5 == 0) absl::StrAppend(&out_, "/*index=", i, "*/");
  }

  void PrintOperands(const Instruction& instruction) {
    if (instruction.opcode() == Opcode::kParameter) {
      absl::StrAppend(&out_, instruction.parameter_number());
    } else if (instruction.opcode() == Opcode::kConstant) {
      PrintConstant(instruction);
    }
    for (int i = 0; i < instruction.num_operands(); ++i) {
      Separate(i);
      const Instruction& operand = *instruction.operand(i);
      if (options_.operand_shapes) absl::StrAppend(&out_, operand.shape().ToString(options_.layouts), " ");
      absl::StrAppend(&out_, percent_, instruction_name_(operand));
    }
  }

  void PrintConstant(const Instruction& constant) {
    absl::StatusOr<Literal> literal = absl::NotFoundError("");
    if (constant.attrs().has_literal() && constant.shape().NumElements() <= options_.max_constant_elements) {
      literal = LiteralOf(constant);
    }
    if (literal.ok()) {
      AppendLiteral(*literal, &out_);
    } else {
      out_ += "{...}";
    }
  }

  void PrintCommonAttributes(const Instruction& instruction) {
    if (instruction.sharding() != nullptr) {
      absl::StrAppend(&out_, ", sharding=", ShardingToString(*instruction.sharding()));
    }
    const xla::FrontendAttributes* attributes = instruction.frontend_attributes();
    if (attributes != nullptr && !attributes->map().empty()) {
      absl::StrAppend(&out_, ", frontend_attributes=", FrontendAttributesToString(*attributes));
    }
    if (!instruction.control_predecessors().empty()) {
      out_ += ", control-predecessors={";
      for (size_t i = 0; i < instruction.control_predecessors().size(); ++i) {
        Separate(static_cast<int>(i));
        absl::StrAppend(&out_, percent_, instruction_name_(*instruction.control_predecessors()[i]));
      }
      out_ += "}";
    }
    if (options_.metadata && instruction.metadata() != nullptr) {
      const std::string metadata = MetadataToString(*instruction.metadata());
      if (!metadata.empty()) absl::StrAppend(&out_, ", metadata=", metadata);
    }
    const absl::string_view config = instruction.backend_config();
    if (options_.backend_configs && !config.empty()) {
      absl::StrAppend(&out_, ", backend_config=", RawOrQuoted(config));
    }
    if (instruction.attrs().statistics_viz().statistics_size() > 0) {
      absl::StrAppend(&out_, ", statistics=", StatisticsToString(instruction.attrs().statistics_viz()));
    }
  }

  const PrintOptions& options_;
  std::function<std::string(const Instruction&)> instruction_name_;
  ComputationName computation_name_;
  absl::string_view percent_;
  std::string& out_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> ParseModule(absl::string_view text,
                                                    std::vector<std::string>* warnings) {
  return HloTextParser(text, warnings).Parse();
}

std::string PrintModule(const Module& module, const PrintOptions& options) {
  const TextNames names(module);
  std::string out = absl::StrCat("HloModule ", SpellableName(module.name(), "module"));
  AppendModuleAttributes(module, options.layouts, &out);
  if (options.metadata) AppendStackFrames(module, &out);
  out += "\n";
  Printer printer(options, names, names, &out);
  for (const auto& computation : module.computations()) {
    out += "\n";
    printer.PrintComputation(*computation, computation.get() == module.entry());
  }
  return out;
}

std::string PrintInstruction(const Instruction& instruction, const PrintOptions& options) {
  std::string out;
  Printer printer(
      options,
      [](const Instruction& i) {
        return SpellableName(i.name(), absl::StrCat(i.opcode_name(), ".", i.index()));
      },
      [](const Computation& c) { return SpellableName(c.name(), absl::StrCat("computation.", c.index())); },
      &out);
  printer.Print(instruction);
  return out;
}

}  // namespace toroid

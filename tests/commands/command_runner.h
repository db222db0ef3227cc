// Runs a built command as a user would: through the shell, from the runfiles folder.
#ifndef TOROID_TESTS_COMMANDS_COMMAND_RUNNER_H_
#define TOROID_TESTS_COMMANDS_COMMAND_RUNNER_H_

#include <string>

namespace toroid {

struct Outcome {
  int exit = -1;  // -1: ended by a signal.
  std::string out, err;
  // Lines of standard error.
  int64_t ErrorLines() const;
};

// `command`: as typed, with its arguments; standard input is empty unless redirected in it.
Outcome RunShell(const std::string& command);

// "mpirun ... ", to be followed by "-n 4 COMMAND". Its files lie in a folder of this process: runs in sandboxes count their
// processes alike, and Open MPI tells runs apart by these numbers.
std::string Mpirun();
// What sets that folder for a command that joins Open MPI without mpirun.
std::string MpiFolder();

// A path in the test's own folder.
std::string TempPath(const std::string& name);
// Writes a file there and returns its path.
std::string TempFile(const std::string& name, const std::string& content);

}  // namespace toroid

#endif  // TOROID_TESTS_COMMANDS_COMMAND_RUNNER_H_

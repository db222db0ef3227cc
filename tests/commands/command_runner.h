// Runs a built command as a user does: through the shell, from the runfiles folder.
#pragma once

#include <string>

namespace toroid {

struct Outcome {
  int exit = -1;  // -1: ended by a signal.
  std::string out, err;
  // Lines of standard error.
  int64_t ErrorLines() const;
};

// `command`: a command line; standard input is empty unless the line redirects it.
Outcome RunShell(const std::string& command);

// "mpirun ... ", to be followed by "-n 4 COMMAND". Its files are in a folder of this process: sandboxed runs
// can have equal process numbers, by which Open MPI tells runs apart.
std::string Mpirun();
// Environment settings that select this folder for a command that joins Open MPI without mpirun.
std::string MpiFolder();

// A path in the test's own folder.
std::string TempPath(const std::string& name);
// Writes a file there and returns its path.
std::string TempFile(const std::string& name, const std::string& content);

}  // namespace toroid

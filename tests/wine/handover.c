/* A program that Windows has and Wine lacks: it runs the system's program of the same name by the script `handover`,
   which lies in the folder HANDOVER. What `sh` is asked to run and begins with `cmd`, it starts by itself, as the `sh`
   of Git for Windows would: only a program of Windows can be in a job.
   The system's program gets files in place of the pipes, which Wine can't give it. */
#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

static wchar_t line[32768], command[32768], place[MAX_PATH];

static void start(const wchar_t *program, PROCESS_INFORMATION *process) {
  STARTUPINFOW startup = {sizeof startup};
  if (!CreateProcessW(program, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, process)) {
    fprintf(stderr, "handover: error %lu\n", GetLastError());
    exit(127);
  }
}

/* Opens what is at the place with this ending; waits for it. */
static FILE *open_at(const wchar_t *ending, const wchar_t *mode) {
  wchar_t path[MAX_PATH];
  FILE *file;
  swprintf(path, MAX_PATH, L"Z:%ls%ls", place, ending);
  while (!(file = _wfopen(path, mode))) Sleep(1);
  return file;
}

static void copy(FILE *from, FILE *to) {
  char bytes[65536];
  size_t count;
  while ((count = fread(bytes, 1, sizeof bytes, from)) > 0) fwrite(bytes, 1, count, to);
  fclose(from);
  fflush(to);
}

int wmain(int argc, wchar_t **argv) {
  PROCESS_INFORMATION process;
  wchar_t name[MAX_PATH];
  _wsplitpath(argv[0], NULL, NULL, name, NULL);
  GetEnvironmentVariableW(L"FP_COMMAND_LINE", command, 32768);
  if (wcscmp(name, L"sh") == 0 && wcsncmp(command, L"cmd ", 4) == 0) {
    DWORD code;
    wcscpy(line, command);
    start(NULL, &process);
    WaitForSingleObject(process.hProcess, INFINITE);
    GetExitCodeProcess(process.hProcess, &code);
    return code;
  }
  for (int i = 0; i < 3; i++) _setmode(i, _O_BINARY);
  swprintf(place, MAX_PATH, L"/tmp/handover-%lu-%lu", GetCurrentProcessId(), GetTickCount());
  FILE *input = open_at(L".in", L"wb");
  copy(stdin, input);
  fclose(input);
  /* What follows the name, as it was written. */
  wchar_t *rest = GetCommandLineW();
  wchar_t end = *rest == '"' ? *rest++ : ' ';
  while (*rest && *rest != end) rest++;
  if (*rest == '"') rest++;
  swprintf(line, 32768, L"sh \"%ls/handover\" %ls %ls %ls", _wgetenv(L"HANDOVER"), name, place, rest);
  start(L"Z:\\bin\\sh", &process);
  /* Wine doesn't tell when and how a program of the system ends. */
  int code = 127;
  FILE *status = open_at(L"", L"rb");
  fscanf(status, "%d", &code);
  fclose(status);
  copy(open_at(L".out", L"rb"), stdout);
  copy(open_at(L".err", L"rb"), stderr);
  return code;
}

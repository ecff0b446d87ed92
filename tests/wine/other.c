/* Another program of Windows.
   other hold FILE MILLISECONDS: has FILE open, as a virus scanner does, so that nobody can put another in its place.
   other tick FILE: appends a dot to FILE ten times a second, for a minute.
   other child FILE: starts `other tick FILE`, and sleeps.
   other press FILE LINE: runs the command line LINE, and presses Ctrl-C once FILE is there. */
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

static HANDLE run(wchar_t *line) {
  STARTUPINFOW startup = {sizeof startup};
  PROCESS_INFORMATION process;
  if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process)) exit(127);
  return process.hProcess;
}

int wmain(int argc, wchar_t **argv) {
  if (wcscmp(argv[1], L"hold") == 0) {
    HANDLE file = CreateFileW(argv[2], GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    puts(file == INVALID_HANDLE_VALUE ? "failed" : "held");
    fflush(stdout);
    Sleep(_wtoi(argv[3]));
  } else if (wcscmp(argv[1], L"tick") == 0) {
    for (int i = 0; i < 600; i++) {
      FILE *file = _wfopen(argv[2], L"a");
      fputc('.', file);
      fclose(file);
      Sleep(100);
    }
  } else if (wcscmp(argv[1], L"press") == 0) {
    HANDLE process = run(argv[3]);
    DWORD code;
    while (GetFileAttributesW(argv[2]) == INVALID_FILE_ATTRIBUTES) Sleep(10);
    SetConsoleCtrlHandler(NULL, TRUE);
    GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0);
    WaitForSingleObject(process, INFINITE);
    GetExitCodeProcess(process, &code);
    return code;
  } else {
    wchar_t line[1024];
    swprintf(line, 1024, L"other tick %ls", argv[2]);
    run(line);
    Sleep(60000);
  }
  return 0;
}

/* Another program of Windows.
   other hold FILE MILLISECONDS: has FILE open, as a virus scanner does, so that nobody can put another in its place.
   other tick FILE: appends a dot to FILE ten times a second, for a minute.
   other child FILE: starts `other tick FILE`, and sleeps. */
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

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
  } else {
    STARTUPINFOW startup = {sizeof startup};
    PROCESS_INFORMATION process;
    wchar_t line[1024], own[MAX_PATH];
    GetModuleFileNameW(NULL, own, MAX_PATH);
    swprintf(line, 1024, L"other tick %ls", argv[2]);
    if (!CreateProcessW(own, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process)) return 1;
    Sleep(60000);
  }
  return 0;
}

//! One plan on several machines. The machines are clones with homes of their own. The remote is a bare repository that
//! they reach by path, by `git daemon` or by smart HTTP, and through a proxy that misbehaves on command.

mod bad_hosts;
mod daemon;
mod faults;
mod foreign;
mod host;
mod http;
mod listener;
mod machine;
mod plain_git;
mod processes;
mod proxy;
mod secrets;
mod strangers;
mod together;

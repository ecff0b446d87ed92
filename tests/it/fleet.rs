//! One plan on several machines. Each machine is a clone with its own home folder. They reach the remote, a bare
//! repository, by path, through `git daemon` or over smart HTTP, and through a proxy that misbehaves on command.

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

//! A cluster of Slurm: a controller and three nodes on this machine, in a directory of their own.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use disklab_exec::find_program;
use rustix::process::{Pid, Signal, geteuid, kill_process};

/// Stopped when it is dropped.
pub struct Cluster {
    directory: tempfile::TempDir,
    daemons: Vec<Child>,
}

const NODES: [&str; 3] = ["n1", "n2", "n3"];

impl Cluster {
    /// `None` if this machine lacks something, which is said.
    pub fn start() -> Option<Self> {
        for program in ["munged", "slurmctld", "slurmd", "sbatch"] {
            if find_program(program).is_none() {
                eprintln!("skipped: needs {program}");
                return None;
            }
        }
        if !geteuid().is_root() {
            eprintln!("skipped: needs root");
            return None;
        }
        let directory = tempfile::tempdir().expect("temp");
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("mode");
        let mut cluster = Self { directory, daemons: Vec::new() };
        cluster.configure();
        let munged = ["--foreground", "--num-threads=2"].map(str::to_owned);
        let files = [("socket", "socket"), ("key-file", "munge/key"), ("pid-file", "munge/pid")];
        let more = [("log-file", "munge/log"), ("seed-file", "munge/seed")];
        let files = files.into_iter().chain(more);
        let files =
            files.map(|(option, name)| format!("--{option}={}", cluster.at(name).display()));
        let words: Vec<String> = munged.into_iter().chain(files).collect();
        cluster.daemon("munged", words);
        wait("munged", || cluster.at("socket").exists());
        cluster.daemon("slurmctld", ["-D", "-c"].map(str::to_owned));
        for node in NODES {
            cluster.daemon("slurmd", ["-D", "-N", node].map(str::to_owned));
        }
        let is_idle = || {
            let nodes = cluster.ask("sinfo", &["--noheader", "--format=%T %D"]);
            nodes.trim() == "idle 3"
        };
        wait("the nodes", is_idle);
        Some(cluster)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What programs of Slurm need to find it.
    pub fn variable(&self) -> (&'static str, PathBuf) {
        ("SLURM_CONF", self.at("slurm.conf"))
    }

    fn configure(&self) {
        for name in ["munge", "state", "spool"] {
            fs::create_dir(self.at(name)).expect("a directory");
        }
        fs::set_permissions(self.at("munge"), fs::Permissions::from_mode(0o700)).expect("mode");
        let mut key = fs::File::options();
        let mut key = key.write(true).create_new(true).mode(0o600).open(self.at("munge/key"));
        std::io::Write::write_all(key.as_mut().expect("a key"), &[7; 128]).expect("a key");
        let host = Command::new("hostname").arg("-s").output().expect("it starts").stdout;
        let host = String::from_utf8_lossy(&host).trim().to_owned();
        // Held until all are known, so that each is another.
        let ports = [0; 4].map(|_| TcpListener::bind("127.0.0.1:0").expect("a port"));
        let ports = ports.map(|port| port.local_addr().expect("an address").port());
        let there = self.directory.path().display();
        let mut text = format!(
            "ClusterName=lab\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\n\
             AuthType=auth/munge\nAuthInfo=socket={there}/socket,cred_expire=5\n\
             CredType=cred/munge\nSlurmUser=root\nSlurmdUser=root\n\
             StateSaveLocation={there}/state\nSlurmdSpoolDir={there}/spool/%n\n\
             SlurmctldPidFile={there}/slurmctld.pid\nSlurmdPidFile={there}/%n.pid\n\
             SlurmctldLogFile={there}/slurmctld.log\nSlurmdLogFile={there}/%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU_Memory\n\
             JobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\nSwitchType=switch/none\n\
             MpiDefault=none\nMailProg=/bin/true\nReturnToService=2\nSlurmdTimeout=3\n\
             MessageTimeout=10\nKillWait=2\nInactiveLimit=0\n\
             SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=1\n\
             SlurmdParameters=config_overrides\n\
             PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            ports[0]
        );
        for (node, port) in NODES.iter().zip(&ports[1..]) {
            text.push_str(&format!(
                "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 \
                 RealMemory=8192\n"
            ));
        }
        fs::write(self.at("slurm.conf"), text).expect("a configuration");
        // Without groups of its own; before 23.11 that is the default where it needs none.
        let version = Command::new("slurmctld").arg("-V").output().expect("it starts").stdout;
        let version = String::from_utf8_lossy(&version);
        let major = version.trim().rsplit(' ').next().and_then(|v| v.split('.').next());
        if major.and_then(|major| major.parse().ok()).is_some_and(|major: u32| major >= 24) {
            fs::write(self.at("cgroup.conf"), "CgroupPlugin=disabled\n").expect("a file");
        }
    }

    fn daemon(&mut self, program: &str, arguments: impl IntoIterator<Item = String>) {
        let (name, value) = self.variable();
        let mut daemon = Command::new(find_program(program).expect("a program"));
        daemon.args(arguments).env(name, value).stdin(Stdio::null()).stdout(Stdio::null());
        self.daemons.push(daemon.stderr(Stdio::null()).spawn().expect("it starts"));
    }

    /// What a program of Slurm answers.
    pub fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let (name, value) = self.variable();
        let asked = Command::new(program).args(arguments).env(name, value).output();
        String::from_utf8_lossy(&asked.expect("it starts").stdout).into_owned()
    }

    /// The processes that belong to jobs on a node, or on any.
    fn processes(&self, node: Option<&str>) -> Vec<Process> {
        let cluster = format!("SLURM_CONF={}", self.at("slurm.conf").display());
        let node = node.map(|node| format!("SLURMD_NODENAME={node}"));
        let is_of = |process: &Process| {
            let has = |variable: &str| process.variables.iter().any(|own| own == variable);
            has(&cluster)
                && match &node {
                    Some(node) => has(node),
                    None => process.variables.iter().any(|v| v.starts_with("SLURM_JOB_ID=")),
                }
        };
        processes().into_iter().filter(is_of).collect()
    }

    /// Waits until a node runs a program that was called with this word.
    pub fn node_with(&self, word: &str) -> &'static str {
        let mut found = None;
        wait("a node that works", || {
            let works = |node: &&&str| {
                self.processes(Some(node)).iter().any(|p| p.words.iter().any(|own| own == word))
            };
            found = NODES.iter().find(works).copied();
            found.is_some()
        });
        found.expect("a node")
    }

    /// Kills all of a node in one moment.
    pub fn lose(&mut self, node: &str) {
        let jobs = self.processes(Some(node));
        let parents: Vec<i32> = jobs.iter().map(|process| process.parent).collect();
        let steps = processes().into_iter().filter(|process| {
            parents.contains(&process.pid) && process.name.starts_with("slurmstepd")
        });
        let at = NODES.iter().position(|own| *own == node).expect("a node");
        let daemon = &mut self.daemons[2 + at];
        daemon.kill().expect("killed");
        daemon.wait().expect("waited for");
        for process in steps.chain(jobs) {
            process.kill();
        }
    }

    /// Waits until no process of a job is left.
    pub fn wait_for_rest(&self) {
        wait("the end of all jobs", || self.processes(None).is_empty());
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.processes(None).iter().for_each(Process::kill);
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// A process of this machine.
pub struct Process {
    pid: i32,
    parent: i32,
    name: String,
    words: Vec<String>,
    variables: Vec<String>,
}

impl Process {
    fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// The processors that it may run on, as the kernel lists them, if it is still there.
    pub fn processors(&self) -> Option<String> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        Some(line.trim().to_owned())
    }

    /// Sends it a signal, if it is still there.
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = kill_process(pid, signal);
        }
    }

    fn read(path: &Path) -> Option<Self> {
        let pid = path.file_name()?.to_str()?.parse().ok()?;
        let list = |name: &str| -> Option<Vec<String>> {
            let bytes = fs::read(path.join(name)).ok()?;
            let words = bytes.split(|byte| *byte == 0);
            Some(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
        };
        let stat = fs::read_to_string(path.join("stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
        Some(Self {
            pid,
            parent,
            name: name.to_owned(),
            words: list("cmdline")?,
            variables: list("environ")?,
        })
    }
}

/// A process, and all that it started, and they.
pub fn family(pid: u32) -> Vec<Process> {
    let mut left = processes();
    let is_first = |process: &mut Process| u32::try_from(process.pid) == Ok(pid);
    let mut family: Vec<Process> = left.extract_if(.., is_first).collect();
    let mut at = 0;
    while at < family.len() {
        let parent = family[at].pid;
        family.extend(left.extract_if(.., |process| process.parent == parent));
        at += 1;
    }
    family
}

fn processes() -> Vec<Process> {
    let all = fs::read_dir("/proc").expect("processes").flatten();
    all.filter_map(|entry| Process::read(&entry.path())).collect()
}

fn wait(what: &str, mut is_there: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_there() {
        assert!(began.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

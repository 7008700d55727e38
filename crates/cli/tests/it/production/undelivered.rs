//! Alerts that were raised by a collector that was killed before they were delivered.

use super::collecting::{CollectProcess, deep_trace};
use crate::harness::TestFolder;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

/// Accepts requests and answers with a status; with none it never answers.
fn receiver(status: Option<&'static str>) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let sender = sender.clone();
            std::thread::spawn(move || {
                stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
                let mut request = String::new();
                drop(stream.read_to_string(&mut request));
                drop(sender.send(request));
                match status {
                    Some(status) => {
                        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                        drop(stream.write_all(answer.as_bytes()));
                    }
                    None => std::thread::sleep(Duration::from_secs(60)),
                }
            });
        }
    });
    (url, received)
}

fn alert_of(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn alerts_of_a_killed_collector_are_delivered_by_the_next_one_once() {
    let folder = TestFolder::with_reference();
    folder.write("evals/production.yaml", super::KEEP_ALL);
    super::keep_two_windows(&folder);
    let (silent, first) = receiver(None);
    let mut collector = CollectProcess::start(&folder, &["--webhook", &silent]);
    for n in 0..12 {
        assert_eq!(collector.post(&deep_trace(n)).0, 200);
    }
    // Killed after an alert was raised and sent, before the receiver answered.
    let lost = alert_of(&first.recv_timeout(Duration::from_secs(60)).expect("an alert"));
    let metrics = collector.get("/metrics");
    collector.kill();
    assert!(metrics.contains("bardo_eval_alerts_sent_total 0\n"), "{metrics}");
    let (accepting, second) = receiver(Some("200 OK"));
    let collector = CollectProcess::start(&folder, &["--webhook", &accepting]);
    collector.wait_for("bardo_eval_alerts_sent_total 2\n");
    drop(collector);
    let delivered: Vec<Value> = second.try_iter().map(|request| alert_of(&request)).collect();
    let ids: Vec<&str> = delivered.iter().map(|alert| alert["id"].as_str().unwrap()).collect();
    assert_eq!(delivered.len(), 2, "{delivered:?}");
    assert!(delivered.contains(&lost), "the same alert, with the id by which a receiver drops repetitions: {lost}");
    assert_ne!(ids[0], ids[1]);
    assert!(ids.iter().all(|id| id.len() >= 32), "{ids:?}");
    // The cool-down outlives both processes, and nothing is delivered again.
    let (again, third) = receiver(Some("200 OK"));
    let collector = CollectProcess::start(&folder, &["--webhook", &again]);
    collector.wait_for("bardo_eval_gate_met");
    std::thread::sleep(Duration::from_secs(2));
    assert!(collector.get("/metrics").contains("bardo_eval_alerts_sent_total 2\n"));
    drop(collector);
    assert_eq!(third.try_iter().count(), 0);
}

//! Answers that are known already: a contract that is asked the same again, and reads the same, says the same.
//!
//! An account asks its tokens and venues dozens of questions before and after each call, in every trial the same ones. A question that only
//! computes and reads its own storage is watched once; then its answer rests on those slots and nothing else. As long as they hold what they
//! held, and are as warm as they were, so that they cost the same, the answer is given without running the contract.

use super::simple;
use alloy_primitives::map::AddressMap;
use alloy_primitives::{Address, B256, Bytes, U256};
use revm::bytecode::opcode as op;
use revm::interpreter::instructions::{GasTable, InstructionTable};
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_types::Jumps;
use revm::interpreter::{CallInputs, CallScheme, Gas, Host, InstructionResult, Interpreter, InterpreterAction, InterpreterResult};
use revm::state::{Account, TransactionId};

/// So many answers are kept before all are forgotten: whoever attacks may ask as he likes.
const ANSWERS: usize = 4_096;
/// To one question; and questions to one contract. The first stay: what every trial begins with is among them.
const VERSIONS: usize = 4;
const QUESTIONS: usize = 32;
/// Slots an answer may rest on, bytes it may have, and bytes of a question: a selector and two arguments.
const READS: usize = 8;
const OUTPUT: usize = 256;
const INPUT: usize = 68;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    of: Address,
    by: Address,
    code: B256,
    input: Vec<u8>,
}

impl Question {
    pub(super) fn of(call: &CallInputs, input: &[u8]) -> Self {
        Self { of: call.target_address, by: call.caller, code: call.known_bytecode.0, input: input.to_vec() }
    }

    fn is(&self, call: &CallInputs, input: &[u8]) -> bool {
        self.input == input && self.by == call.caller && self.code == call.known_bytecode.0
    }
}

/// Whether a call may be answered from memory: it changes nothing, and is short.
pub(super) fn asks(call: &CallInputs) -> bool {
    call.scheme == CallScheme::StaticCall && call.target_address == call.bytecode_address && call.input.len() <= INPUT
}

/// A slot as it was when the question was put.
#[derive(Debug)]
struct Read {
    slot: U256,
    value: U256,
    cold: bool,
}

#[derive(Debug)]
pub(super) struct Answer {
    reads: Vec<Read>,
    gas: u64,
    output: Bytes,
}

impl Answer {
    fn holds(&self, account: &Account, now: TransactionId) -> bool {
        self.reads.iter().all(|read| {
            let slot = account.storage.get(&read.slot);
            slot.is_some_and(|slot| slot.present_value() == read.value && slot.is_cold_transaction_id(now) == read.cold)
        })
    }

    /// Slots that the contract would have warmed.
    pub(super) fn warms(&self) -> impl Iterator<Item = U256> {
        self.reads.iter().filter(|read| read.cold).map(|read| read.slot)
    }

    /// What the contract would have returned, given as much gas as this.
    pub(super) fn result(&self, limit: u64, reservoir: u64) -> InterpreterResult {
        let mut gas = Gas::new_with_regular_gas_and_reservoir(limit, reservoir);
        gas.set_spent(self.gas);
        InterpreterResult { result: InstructionResult::Return, gas, output: self.output.clone() }
    }
}

#[derive(Debug, Default)]
pub(super) struct Answers {
    /// By who is asked: few are asked more than two or three things.
    known: AddressMap<Vec<(Question, Known)>>,
    /// At most so many are kept.
    count: usize,
}

#[derive(Debug)]
enum Known {
    Answers(Vec<Answer>),
    /// It looks at more than its own storage: not worth watching again.
    Never,
}

pub(super) enum Found<'a> {
    Answer(&'a Answer),
    /// To be watched.
    Nothing,
    /// To be run; there is no use in watching.
    Never,
}

impl Answers {
    pub(super) fn find(&self, call: &CallInputs, input: &[u8], account: &Account, now: TransactionId) -> Found<'_> {
        let known = self.known.get(&call.target_address).and_then(|known| known.iter().find(|(question, _)| question.is(call, input)));
        let versions = match known {
            Some((_, Known::Answers(versions))) => versions.as_slice(),
            Some((_, Known::Never)) => return Found::Never,
            None => &[],
        };
        match versions.iter().find(|answer| answer.gas <= call.gas_limit && answer.holds(account, now)) {
            Some(answer) => Found::Answer(answer),
            None if versions.len() < VERSIONS => Found::Nothing,
            None => Found::Never,
        }
    }

    fn keep(&mut self, question: Question, answer: Option<Answer>) {
        self.count += 1;
        if self.count > ANSWERS {
            self.known.clear();
            self.count = 1;
        }
        let known = self.known.entry(question.of).or_default();
        let at = known.iter().position(|(other, _)| *other == question).unwrap_or_else(|| {
            if known.len() == QUESTIONS {
                known.clear();
            }
            known.push((question, Known::Answers(vec![])));
            known.len() - 1
        });
        match (&mut known[at].1, answer) {
            (Known::Answers(versions), Some(answer)) => versions.push(answer),
            (known, _) => *known = Known::Never,
        }
    }

    /// Runs a question to its end, and keeps the answer with what it rests on.
    pub(super) fn watch<H: Host + ?Sized>(
        &mut self,
        question: Question,
        interpreter: &mut Interpreter,
        instructions: &InstructionTable<EthInterpreter, H>,
        costs: &GasTable,
        host: &mut H,
    ) -> InterpreterAction {
        let mut reads: Vec<Read> = vec![];
        let end = loop {
            let instruction = interpreter.bytecode.opcode();
            if !computes(instruction) || reads.len() > READS {
                self.keep(question, None);
                return simple::run(interpreter, instructions, costs, host);
            }
            let (slot, before) = (interpreter.stack.data().last().copied(), interpreter.gas.remaining());
            if let Err(end) = interpreter.step(instructions, costs, host) {
                break end;
            }
            let value = interpreter.stack.data().last().copied();
            if let (op::SLOAD, Some(slot), Some(value)) = (instruction, slot, value)
                && !reads.iter().any(|read| read.slot == slot)
            {
                let cold = before - interpreter.gas.remaining() > u64::from(costs[usize::from(op::SLOAD)]);
                reads.push(Read { slot, value, cold });
            }
        };
        let action = simple::ended(interpreter, end);
        if let InterpreterAction::Return(InterpreterResult { result: InstructionResult::Return, gas, output }) = &action
            && output.len() <= OUTPUT
        {
            self.keep(question, Some(Answer { reads, gas: gas.total_gas_spent(), output: output.clone() }));
        }
        action
    }
}

/// Whether what an instruction does depends only on the code, the input, who asks, and the contract's storage.
fn computes(instruction: u8) -> bool {
    matches!(
        instruction,
        op::ADD..=op::SIGNEXTEND
            | op::LT..=op::SAR
            | op::KECCAK256
            | op::ADDRESS
            | op::CALLER..=op::CODECOPY
            | op::POP..=op::SLOAD
            | op::JUMP..=op::MSIZE
            | op::JUMPDEST
            | op::MCOPY
            | op::PUSH0..=op::SWAP16
            | op::RETURN
            | op::REVERT
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(of: u8, input: u32) -> Question {
        Question { of: Address::repeat_byte(of), by: Address::ZERO, code: B256::ZERO, input: input.to_be_bytes().to_vec() }
    }

    fn answer() -> Answer {
        Answer { reads: vec![], gas: 0, output: Bytes::new() }
    }

    fn kept(answers: &Answers) -> usize {
        answers.known.values().flatten().map(|(_, known)| if let Known::Answers(versions) = known { versions.len() } else { 1 }).sum()
    }

    #[test]
    fn whoever_asks_without_end_fills_nothing() {
        let mut answers = Answers::default();
        for input in 0..3 * QUESTIONS as u32 {
            answers.keep(question(1, input), Some(answer()));
            assert!((1..=QUESTIONS).contains(&kept(&answers)));
        }
        for n in 0..3 * ANSWERS as u32 {
            answers.keep(question((n % 251) as u8, n), (n % 3 > 0).then(answer));
            assert!((1..=ANSWERS).contains(&kept(&answers)));
        }
    }
}

//! A short cut: simple instructions are run in one loop that keeps place and gas at hand.
//!
//! Nine in ten instructions push, copy, compare, add or jump. revm calls a function for each and writes place and gas to memory in between.
//! The loop here does them on revm's own stack and memory, and only as long as they succeed: whatever is not simple or would fail (too little
//! gas, an empty or full stack, memory that must grow, a jump to nowhere) is left as it stands, and revm itself runs it.

use alloy_primitives::U256;
use revm::bytecode::opcode as op;
use revm::interpreter::instructions::{GasTable, InstructionTable};
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_types::{Jumps, LoopControl};
use revm::interpreter::{Host, InstructionResult, Interpreter, InterpreterAction};

/// Runs a frame until it ends or asks for another.
pub(super) fn run<H: Host + ?Sized>(
    interpreter: &mut Interpreter,
    instructions: &InstructionTable<EthInterpreter, H>,
    costs: &GasTable,
    host: &mut H,
) -> InterpreterAction {
    let end = loop {
        simple(interpreter, costs);
        if let Err(end) = interpreter.step(instructions, costs, host) {
            break end;
        }
    };
    ended(interpreter, end)
}

/// What a frame that stopped for this reason wants next.
pub(super) fn ended(interpreter: &mut Interpreter, end: InstructionResult) -> InterpreterAction {
    if interpreter.bytecode.action().is_none() {
        interpreter.halt(end);
    }
    interpreter.take_next_action()
}

/// Runs instructions as far as the first that is not simple, or would not succeed. Each arm leaves the loop before it changes anything.
fn simple(interpreter: &mut Interpreter, costs: &GasTable) {
    let Interpreter { bytecode, gas, stack, memory, input, return_data, .. } = interpreter;
    let Some(destinations) = bytecode.legacy_jump_table() else { return };
    let code: &[u8] = bytecode.bytes_ref();
    let (mut at, mut left) = (bytecode.pc(), gas.remaining());

    // The top of the stack becomes the result of both; or of the one.
    macro_rules! both {
        ($result:expr) => {{
            let Some(([a], b)) = stack.popn_top::<1>() else { break };
            *b = $result(a, *b);
        }};
    }
    macro_rules! push {
        ($value:expr) => {
            if !stack.push($value) {
                break;
            }
        };
    }

    while let Some(instruction) = code.get(at).copied() {
        let cost = u64::from(costs[usize::from(instruction)]);
        if cost > left {
            break;
        }
        let mut next = at + 1;
        // Half of all. A jump table for these would be slower than the question: where an indirect jump goes is guessed badly.
        if instruction >= op::PUSH1 {
            let done = if instruction <= op::PUSH32 {
                let length = usize::from(instruction - op::PUSH0);
                let Some(bytes) = code.get(next..next + length) else { break };
                next += length;
                match bytes {
                    [byte] => stack.push(SMALL[usize::from(*byte)]),
                    [high, low] => stack.push(U256::from(u16::from_be_bytes([*high, *low]))),
                    _ => stack.push_slice(bytes).is_ok(),
                }
            } else if instruction <= op::DUP16 {
                stack.dup(usize::from(instruction - op::DUP1) + 1)
            } else if instruction <= op::SWAP16 {
                stack.exchange(0, usize::from(instruction - op::SWAP1) + 1)
            } else {
                false
            };
            if !done {
                break;
            }
            left -= cost;
            at = next;
            continue;
        }
        match instruction {
            op::PUSH0 => push!(U256::ZERO),
            op::POP => {
                if stack.popn::<1>().is_none() {
                    break;
                }
            }
            op::JUMPDEST => {}
            op::JUMP => {
                let Some(target) = stack.data().last().and_then(|target| usize::try_from(target).ok()) else { break };
                if !destinations.is_valid(target) || stack.popn::<1>().is_none() {
                    break;
                }
                next = target;
            }
            op::JUMPI => {
                let [.., condition, target] = stack.data().as_slice() else { break };
                if !condition.is_zero() {
                    let Some(target) = usize::try_from(target).ok().filter(|target| destinations.is_valid(*target)) else { break };
                    next = target;
                }
                if stack.popn::<2>().is_none() {
                    break;
                }
            }
            op::ADD => both!(|a: U256, b: U256| a.wrapping_add(b)),
            op::SUB => both!(|a: U256, b: U256| a.wrapping_sub(b)),
            op::MUL => both!(|a: U256, b: U256| a.wrapping_mul(b)),
            op::LT => both!(|a: U256, b: U256| truth(a < b)),
            op::GT => both!(|a: U256, b: U256| truth(a > b)),
            op::SLT => both!(|a: U256, b: U256| truth(if a.bit(255) == b.bit(255) { a < b } else { a.bit(255) })),
            op::EQ => both!(|a: U256, b: U256| truth(a == b)),
            op::AND => both!(|a: U256, b: U256| a & b),
            op::OR => both!(|a: U256, b: U256| a | b),
            op::XOR => both!(|a: U256, b: U256| a ^ b),
            op::SHL => both!(|by: U256, word: U256| usize::try_from(by).map_or(U256::ZERO, |by| word << by)),
            op::SHR => both!(|by: U256, word: U256| usize::try_from(by).map_or(U256::ZERO, |by| word >> by)),
            op::ISZERO => {
                let Some(top) = stack.top() else { break };
                *top = truth(top.is_zero());
            }
            op::NOT => {
                let Some(top) = stack.top() else { break };
                *top = !*top;
            }
            op::MLOAD => {
                let size = memory.len();
                let Some(top) = stack.top() else { break };
                let Some(place) = within(top, size) else { break };
                *top = U256::from_be_slice(&memory.slice_len(place, 32));
            }
            op::MSTORE => {
                let [.., word, place] = stack.data().as_slice() else { break };
                let Some(place) = within(place, memory.len()) else { break };
                memory.set(place, &word.to_be_bytes::<32>());
                if stack.popn::<2>().is_none() {
                    break;
                }
            }
            op::CALLVALUE => push!(input.call_value),
            op::CALLDATASIZE => push!(U256::from(input.input.len())),
            op::RETURNDATASIZE => push!(U256::from(return_data.0.len())),
            op::ADDRESS => push!(input.target_address.into_word().into()),
            op::GAS => push!(U256::from(left - cost)),
            _ => break,
        }
        left -= cost;
        at = next;
    }
    bytecode.absolute_jump(at);
    gas.set_remaining(left);
}

fn truth(holds: bool) -> U256 {
    SMALL[usize::from(holds)]
}

/// Small numbers as they lie on the stack.
static SMALL: [U256; 256] = {
    let mut words = [U256::ZERO; 256];
    let mut number = 0;
    while number < words.len() {
        words[number] = U256::from_limbs([number as u64, 0, 0, 0]);
        number += 1;
    }
    words
};

/// Where a word lies in memory, if memory reaches that far.
fn within(place: &U256, size: usize) -> Option<usize> {
    let place = usize::try_from(place).ok()?;
    (place.checked_add(32)? <= size).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use revm::bytecode::Bytecode;
    use revm::context_interface::host::DummyHost;
    use revm::interpreter::instructions::{gas_table_spec, instruction_table};
    use revm::interpreter::interpreter::{ExtBytecode, InputsImpl};
    use revm::interpreter::{CallInput, SharedMemory};
    use revm::primitives::hardfork::SpecId;

    type Run = fn(&mut Interpreter, &InstructionTable<EthInterpreter, DummyHost>, &GasTable, &mut DummyHost) -> InterpreterAction;

    /// How it ended, with the gas left, and what lay on the stack and in memory.
    fn ran(code: &[u8], gas: u64, run: Run) -> (InterpreterAction, Vec<U256>, Vec<u8>) {
        let bytecode = ExtBytecode::new(Bytecode::new_legacy(code.to_vec().into()));
        let input = InputsImpl {
            target_address: alloy_primitives::Address::repeat_byte(7),
            input: CallInput::Bytes(vec![9; 50].into()),
            call_value: U256::from(3),
            ..InputsImpl::default()
        };
        let mut interpreter = Interpreter::new(SharedMemory::new(), bytecode, input, false, SpecId::PRAGUE, gas);
        let action = run(&mut interpreter, &instruction_table(), &gas_table_spec(SpecId::PRAGUE), &mut DummyHost::new(SpecId::PRAGUE));
        let memory = interpreter.memory.slice_len(0, interpreter.memory.len()).to_vec();
        (action, interpreter.stack.data().clone(), memory)
    }

    fn same(code: &[u8], gas: u64) {
        let stock: Run = |interpreter, instructions, costs, host| interpreter.run_plain(instructions, costs, host);
        assert_eq!(ran(code, gas, run), ran(code, gas, stock), "{}", alloy_primitives::hex::encode(code));
    }

    /// Whether an instruction asks the chain nothing that the dummy cannot answer.
    fn own(one: &u8) -> bool {
        !matches!(*one, op::DIFFICULTY | op::SLOAD | op::SSTORE | op::TLOAD | op::TSTORE)
    }

    /// Something that means something: words of all sizes, small numbers for places and targets, and every instruction that needs no chain.
    fn piece() -> impl Strategy<Value = Vec<u8>> {
        let arithmetic = (op::ADD..=op::SIGNEXTEND).prop_map(|one| vec![one]);
        let bits = (op::LT..=op::SAR).prop_map(|one| vec![one]);
        let stack = (op::DUP1..=op::SWAP16).prop_map(|one| vec![one]);
        let around = prop::sample::select(vec![
            op::POP,
            op::MLOAD,
            op::MSTORE,
            op::MSTORE8,
            op::JUMPDEST,
            op::PC,
            op::MSIZE,
            op::GAS,
            op::ADDRESS,
            op::CALLVALUE,
            op::CALLDATASIZE,
            op::CALLDATALOAD,
            op::RETURNDATASIZE,
            op::KECCAK256,
            op::RETURN,
            op::REVERT,
            op::STOP,
            op::PUSH0,
        ]);
        let word = prop::collection::vec(any::<u8>(), 1..=32).prop_map(|bytes| [vec![op::PUSH0 + bytes.len() as u8], bytes].concat());
        let number = any::<u8>().prop_map(|number| vec![op::PUSH1, number]);
        let jump = (0..120_u8, any::<bool>()).prop_map(|(to, maybe)| vec![op::PUSH2, 0, to, if maybe { op::JUMPI } else { op::JUMP }]);
        let landing = Just(vec![op::JUMPDEST, op::PUSH1, 1]);
        prop_oneof![1 => arithmetic, 2 => bits, 2 => stack, 3 => around.prop_map(|one| vec![one]), 3 => word, 4 => number, 1 => jump, 2 => landing]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn a_program_does_the_same_as_on_revm_alone(pieces in prop::collection::vec(piece(), 1..60), gas in 0..3_000_u64) {
            same(&pieces.concat(), gas);
        }

        #[test]
        fn so_does_any_string_of_bytes(code in prop::collection::vec((0..op::LOG0).prop_filter("asks the chain", own), 0..80), gas in 0..500_u64) {
            same(&code, gas);
        }
    }

    #[test]
    fn the_stack_has_a_top_and_a_bottom() {
        for one in (0..op::LOG0).filter(own) {
            for depth in [0, 1, 2, 16, 17, 1_022, 1_023, 1_024] {
                same(&[vec![op::PUSH0; depth], vec![one, 0, 0]].concat(), 10_000);
            }
        }
    }
}

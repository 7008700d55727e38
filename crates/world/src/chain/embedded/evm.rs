//! revm in everything but the way it runs a frame: simple instructions in a loop of our own, and questions from memory.

use super::answers::{Answers, Found, Question, asks};
use super::simple;
use super::state::Sight;
use revm::MainnetEvm;
use revm::context::{FrameStack, JournalTr};
use revm::handler::evm::{ContextDbError, EvmTr, FrameInitResult};
use revm::handler::instructions::{EthInstructions, InstructionProvider};
use revm::handler::{EthFrame, EthPrecompiles, FrameInitOrResult, FrameResult, ItemOrResult, MainnetContext};
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_action::FrameInit;
use revm::interpreter::{CallInputs, CallOutcome, FrameInput};
use revm::primitives::constants::CALL_STACK_LIMIT;

type Ctx = MainnetContext<Sight>;

pub(super) struct Evm {
    pub(super) inner: MainnetEvm<Ctx>,
    answers: Answers,
    /// What the frame that runs next is asked, if its answer may be worth keeping.
    asked: Option<Question>,
}

impl Evm {
    pub(super) fn new(inner: MainnetEvm<Ctx>) -> Self {
        Self { inner, answers: Answers::default(), asked: None }
    }

    /// The outcome of a call, if it is a question whose answer is known.
    fn answered(&mut self, call: &CallInputs) -> Result<Option<CallOutcome>, ContextDbError<Ctx>> {
        let ctx = &mut self.inner.ctx;
        let input = call.input.as_bytes_local(&ctx.local);
        let journal = &mut ctx.journaled_state;
        let Some(account) = journal.inner.state.get(&call.target_address) else { return Ok(None) };
        let answer = match self.answers.find(call, &input, account, journal.inner.transaction_id) {
            Found::Answer(answer) => answer,
            Found::Nothing => {
                self.asked = Some(Question::of(call, &input));
                return Ok(None);
            }
            Found::Never => return Ok(None),
        };
        for slot in answer.warms() {
            journal.sload(call.target_address, slot)?;
        }
        Ok(Some(CallOutcome::new(answer.result(call.gas_limit, call.reservoir), call.return_memory_offset.clone())))
    }
}

impl EvmTr for Evm {
    type Context = Ctx;
    type Instructions = EthInstructions<EthInterpreter, Ctx>;
    type Precompiles = EthPrecompiles;
    type Frame = EthFrame<EthInterpreter>;

    fn all(&self) -> (&Ctx, &Self::Instructions, &EthPrecompiles, &FrameStack<Self::Frame>) {
        self.inner.all()
    }

    fn all_mut(&mut self) -> (&mut Ctx, &mut Self::Instructions, &mut EthPrecompiles, &mut FrameStack<Self::Frame>) {
        self.inner.all_mut()
    }

    fn frame_init(&mut self, init: FrameInit) -> Result<FrameInitResult<'_, Self::Frame>, ContextDbError<Ctx>> {
        self.asked = None;
        if let FrameInput::Call(call) = &init.frame_input
            && asks(call)
            && init.depth <= CALL_STACK_LIMIT as usize
            && let Some(outcome) = self.answered(call)?
        {
            return Ok(ItemOrResult::Result(FrameResult::Call(outcome)));
        }
        self.inner.frame_init(init)
    }

    // As revm's own, but for what runs the frame.
    fn frame_run(&mut self) -> Result<FrameInitOrResult<Self::Frame>, ContextDbError<Ctx>> {
        let (ctx, instructions, _, frames) = self.inner.all_mut();
        let frame = frames.get();
        let (table, costs) = (instructions.instruction_table(), instructions.gas_table());
        let action = match self.asked.take() {
            Some(question) => self.answers.watch(question, &mut frame.interpreter, table, costs, ctx),
            None => simple::run(&mut frame.interpreter, table, costs, ctx),
        };
        frame.process_next_action(ctx, action).inspect(|next| {
            if next.is_result() {
                frame.set_finished(true);
            }
        })
    }

    fn frame_return_result(&mut self, result: FrameResult) -> Result<Option<FrameResult>, ContextDbError<Ctx>> {
        self.asked = None;
        self.inner.frame_return_result(result)
    }
}

//! Plans the transaction or signature of an operation from a tool and its arguments, one file per family.

mod amounts;
mod assets;
mod batch;
mod bridge;
mod burn;
mod calls;
mod configure;
mod convert;
mod identity;
mod lend;
mod leverage;
mod pool;
mod sign;
mod swap;
mod transfer;
mod vault;
mod venue;

pub(crate) use batch::raw_calls;

use super::args::ToolArgs;
use super::tool_error::ToolError;
use super::tx_builder::TxBuilder;
use super::tx_plan::{PlanKind, TxPlan};
use model::transcript::ToolErrorCode;
use model::{Tool, ToolOp};

/// Plans the operation of `tool`; `args` may be those of a quote for it.
pub(crate) async fn plan_operation(builder: &mut TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    match *tool.acts {
        ToolOp::Send => transfer::send(builder, args),
        ToolOp::Receive => transfer::receive(builder, tool, args),
        ToolOp::Sweep => transfer::sweep(builder, args).await,
        ToolOp::Approve => transfer::approve(builder, args),
        ToolOp::Revoke => transfer::revoke(builder, args),
        ToolOp::Permit | ToolOp::SignSetting | ToolOp::Publish => sign::sign(builder, tool, args),
        ToolOp::Swap => swap::swap(builder, args).await,
        ToolOp::Add | ToolOp::Increase => pool::add(builder, args).await,
        ToolOp::Reposition => pool::reposition(builder, args).await,
        ToolOp::Remove => pool::remove(builder, args).await,
        ToolOp::Deposit => vault::deposit(builder, args).await,
        ToolOp::Redeem => vault::redeem(builder, args).await,
        ToolOp::Enter | ToolOp::JoinPool | ToolOp::QueueExit => lend::enter(builder, tool, args).await,
        ToolOp::Exit | ToolOp::LeavePool => lend::exit(builder, tool, args),
        ToolOp::Borrow => lend::borrow(builder, tool, args),
        ToolOp::Repay => lend::repay(builder, tool, args).await,
        ToolOp::Claim | ToolOp::CollectFees | ToolOp::CollectVaultFees | ToolOp::RunJob => lend::claim(builder, tool, args),
        ToolOp::Flash => lend::flash(builder, tool, args),
        ToolOp::ConvertIn | ToolOp::ConvertOut => convert::convert(builder, tool, args).await,
        ToolOp::Burn => burn::burn(builder, tool, args).await,
        ToolOp::Leverage => leverage::leverage(builder, tool, args).await,
        ToolOp::Deleverage => leverage::deleverage(builder, tool, args).await,
        ToolOp::Bridge => bridge::bridge(builder, tool, args).await,
        ToolOp::Register => identity::register(builder, tool, args),
        ToolOp::Feedback => identity::feedback(builder, tool, args),
        ToolOp::Metadata => identity::metadata(builder, tool, args),
        ToolOp::Validate => identity::validate(builder, tool, args),
        ToolOp::Configure | ToolOp::Rebalance | ToolOp::Record | ToolOp::Execute => configure::configure(builder, tool, args),
        // Only the owner can lift a halt on chain; the agent signs a request for it.
        ToolOp::Halt if args.text("action").as_deref() == Some("reset") => sign::sign(builder, tool, args),
        ToolOp::Halt => Ok(configure::halt(builder)),
        ToolOp::Batch => plan_batch(builder, args).await,
        ToolOp::Remember => Ok(remember(builder, tool, args)),
        ToolOp::Read | ToolOp::Quote | ToolOp::Simulate | ToolOp::PassThrough | ToolOp::Commit => {
            Err(ToolError::new(ToolErrorCode::ActionNotPrepared, "no prepared action specified; request a quote, preview or dry run first"))
        }
    }
}

/// Plans a batch as one transaction; each operation is planned like a call of its own tool.
async fn plan_batch(builder: &mut TxBuilder<'_>, args: &ToolArgs<'_>) -> Result<TxPlan, ToolError> {
    let operations = batch::operations_arg(args);
    let Some(parts) = batch::batch_parts(builder.workspace, args, operations)? else { return batch::plan_raw_calls(builder, operations) };
    let mut batch_plan = calls::plan(builder, vec![], vec![], vec![]);
    let mut all_calls = vec![];
    for part in parts {
        // The recursion ends here: tools of a batch are not batches.
        let plan = Box::pin(plan_operation(builder, part.tool, &ToolArgs::new(part.tool, &part.args))).await?;
        if let PlanKind::Execute(calls) = plan.kind {
            all_calls.extend(calls);
        }
        batch_plan.outflows.extend(plan.outflows);
        batch_plan.parties.extend(plan.parties);
    }
    batch_plan.kind = PlanKind::Execute(all_calls);
    Ok(batch_plan)
}

fn remember(builder: &TxBuilder<'_>, tool: &Tool, args: &ToolArgs<'_>) -> TxPlan {
    let key = format!("{}:{}", *tool.name, builder.unix_s);
    let mut value = args.as_map().clone();
    value.retain(|name, _| !matches!(name.as_str(), "dry_run" | "action_id"));
    TxPlan::new(builder.id, PlanKind::Remember { key, value: serde_json::Value::Object(value) })
}

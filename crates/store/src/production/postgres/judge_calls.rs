//! Calls of the judge's model with their money. A call is stored before it is sent; one without a cost counts at its ceiling.

use super::{PgTraces, bound};
use crate::StoreError;
use crate::postgres::{encode, get_count, get_text, number};
use crate::production::engine::JudgeCallTable;
use crate::production::records::{CallReservation, DayLimit};

const SPENT: &str = "SELECT least(coalesce(sum(coalesce(cost, ceiling)::numeric), 0), 9e18)::bigint FROM judge_calls WHERE day = $1";

impl JudgeCallTable for PgTraces {
    fn reserve_judge_call(&self, call: &str, limit: DayLimit, ceiling: u64) -> Result<CallReservation, StoreError> {
        let (call, day, most) = (encode(call), number(limit.day)?, number(ceiling)?);
        self.transact_in_turn(move |mut transaction| {
            let call = call.clone();
            Box::pin(async move {
                let spent = transaction.query(SPENT, &[&day]).await?;
                let spent = spent.first().map_or(Ok(0), |row| get_count(row, 0))?;
                let left = limit.nanos.saturating_sub(spent);
                if left < ceiling {
                    return Ok(CallReservation::TooLittle { left });
                }
                transaction.query("INSERT INTO judge_calls (call, day, ceiling) VALUES ($1, $2, $3)", &[&call, &day, &most]).await?;
                Ok(CallReservation::Reserved)
            })
        })
    }

    fn settle_judge_call(&self, call: &str, cost: u64, reply: Option<&str>) -> Result<(), StoreError> {
        let (call, cost, reply) = (encode(call), bound(cost), reply.map(encode));
        self.transact_in_turn(move |mut transaction| {
            let (call, reply) = (call.clone(), reply.clone());
            Box::pin(async move {
                let sql = "UPDATE judge_calls SET cost = $2, reply = $3
                    WHERE n = (SELECT max(n) FROM judge_calls WHERE call = $1 AND cost IS NULL)";
                transaction.query(sql, &[&call, &cost, &reply]).await.map(drop)
            })
        })
    }

    fn settled_judge_call(&self, call: &str) -> Result<Option<(u64, String)>, StoreError> {
        let sql = "SELECT cost, reply FROM judge_calls WHERE call = $1 AND reply IS NOT NULL ORDER BY n DESC LIMIT 1";
        let rows = self.connection.query(sql, vec![Box::new(encode(call))])?;
        rows.first().map(|row| Ok((get_count(row, 0)?, get_text(row, 1)?))).transpose()
    }

    fn judge_spending(&self, day: u64) -> Result<u64, StoreError> {
        self.connection.query(SPENT, vec![Box::new(number(day)?)])?.first().map_or(Ok(0), |row| get_count(row, 0))
    }
}

//! Phrases in Chinese: imperatives and obligations of moving funds, giving rights and dropping checks.

use super::{Concept, PhraseTable};

pub(super) const PHRASES: &[PhraseTable] = &[
    (
        Concept::ForeignAct,
        &[
            "转到", "转 1", "转给", "转账", "转入", "转出", "汇到", "汇给", "发送", "发给", "支付", "付给", "付款", "打款", "授权", "批准",
            "签署", "签名", "提取", "存入", "买入", "卖出", "兑换", "调用", "委托", "质押", "赎回", "公布", "发布", "导出", "告诉", "交给",
            "移交", "转交", "换成", "设为", "删除", "提高", "放弃", "送到", "桥接", "撤回", "取消", "替换", "添加",
        ],
    ),
    (
        Concept::Waive,
        &[
            "跳过",
            "无需确认",
            "不必确认",
            "无需模拟",
            "不要等",
            "不用确认",
            "不再适用",
            "已批准",
            "无需批准",
            "无须",
            "由我负责",
            "我负责",
            "我来负责",
        ],
    ),
    (Concept::Conceal, &["不要提", "不要告诉", "不要报告", "别告诉", "保密"]),
    (Concept::Override, &["忽略之前", "忽略以上", "忽略所有", "无视之前", "新任务", "新指令"]),
    (Concept::Secret, &["私钥", "助记词", "密钥", "密码", "系统提示"]),
];

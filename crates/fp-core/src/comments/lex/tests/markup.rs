//! HTML, XML and component files.

use super::check;

#[test]
fn html() {
    check(
        "a.html",
        &[
            ("<body>\n  <!-- the main heading -->\n  <h1>Hi</h1>\n</body>", &["<!-- the main heading -->"]),
            ("<p>use // and # and /* here */</p>\n<a href=\"http://x\">a</a>", &[]),
            ("<script>\n// js\nvar a = '<!-- no -->';\n</script><!-- yes -->", &["// js", "<!-- yes -->"]),
            ("<style>/* css */ a { b: url(//x) }</style>", &["/* css */"]),
            ("<a title=\"<!-- no -->\">it's</a> <!-- yes", &["<!-- yes"]),
            ("<script type=\"application/json\">{\"a\": \"// no\"} // no</script>", &[]),
            ("<SCRIPT>// a\n</SCRIPT> // no", &["// a"]),
            ("<textarea><!-- no --></textarea><!-- yes -->", &["<!-- yes -->"]),
            ("a < b <!-- yes --> c > d", &["<!-- yes -->"]),
            ("<!DOCTYPE html>\n<br/><!--[if IE]> x <![endif]-->", &["<!--[if IE]> x <![endif]-->"]),
            ("<script src=\"x\"></script>\n// no", &[]),
        ],
    );
}

#[test]
fn xml() {
    check(
        "a.svg",
        &[
            ("<?xml version=\"1.0\"?><!-- yes --><a/>", &["<!-- yes -->"]),
            ("<a><![CDATA[ <!-- no --> ]]></a><!-- yes -->", &["<!-- yes -->"]),
            ("<a b='<!-- no -->'/>", &[]),
            ("<style>// no</style>", &[]),
            ("<a>// no # no</a>", &[]),
            ("<!-- a\n b --><c>-->", &["<!-- a\n b -->"]),
        ],
    );
}

#[test]
fn components() {
    check(
        "A.vue",
        &[
            (
                "<template><p>hi // no</p></template>\n<script>\n// export default\nexport default {}\n</script>\n",
                &["// export default"],
            ),
            ("<script lang=\"ts\">\nconst x = <any>y; // yes\n</script>", &["// yes"]),
            ("<style lang=\"scss\">\n// yes\n</style>", &["// yes"]),
            ("<style>\n// no\n/* yes */</style>", &["/* yes */"]),
            ("<template>\n<!-- yes -->\n<a :b=\"c > d\" /></template>", &["<!-- yes -->"]),
            ("<template lang=\"pug\">\np it's // no\n</template>\n<script>// yes\n</script>", &["// yes"]),
            ("// a fragment\nconst a = 1", &["// a fragment"]),
        ],
    );
    check(
        "A.svelte",
        &[
            ("<script>\n  // yes\n</script>\n{#if a}\n<p>// no</p>\n{/if}{/each}", &["// yes"]),
            ("<p>{a /* yes */} // no</p>", &["/* yes */"]),
            ("<b on:c={() => a > '//'}>// no</b>\n<!-- yes -->", &["<!-- yes -->"]),
            ("{#each [\"<!-- no -->\"] as x}{x}{/each}", &[]),
            ("<style>/* yes */</style>", &["/* yes */"]),
            ("{@html '<!-- no -->'} <!-- yes -->", &["<!-- yes -->"]),
        ],
    );
    check(
        "A.astro",
        &[
            (
                "---\n// yes\nconst a = 1;\n---\n<p>// no</p>{a && <b>// no</b>}<!-- and -->",
                &["// yes", "<!-- and -->"],
            ),
            ("<p>{/* yes */}</p>", &["/* yes */"]),
        ],
    );
}

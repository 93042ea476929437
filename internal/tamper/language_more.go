package tamper

import "regexp"

func re(s string) *regexp.Regexp { return regexp.MustCompile(s) }

func rust() *language {
	return &language{
		ext: []string{".rs"}, line: "//", block: true, quotes: `"`,
		// Unit tests stand in the files that they test.
		isTest:  re(`\.rs$`),
		declare: re(`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?fn\s+(\w+)`),
		mark:    re(`^\s*#\[(?:\w+::)*(?:test|rstest|test_case|wasm_bindgen_test|bench)\b`),
		skip:    re(`#\[\s*ignore\b|#\[\s*cfg_attr\([^\]]*\bignore\b|#!?\[\s*cfg\((?:any\(\)|FALSE|false|not\(test\))\)`),
		assert:  re(`\b(?:debug_)?assert(?:_eq|_ne|_matches)?!|\b(?:panic|unreachable)!\(|#\[\s*should_panic\b|\bassert_\w+!`),
		exact:   re(`\bassert_eq!|\bassert!\(.*==|\bassert_matches!|should_panic\(expected`),
		inexact: re(`\|\|\s*true\b`),
		loose:   re(`\bassert!\(|\bassert_ne!|#\[\s*should_panic\s*\]`),
		idle:    re(`\bassert!\(\s*true\b|\bassert_eq!\(\s*(?:1,\s*1|true,\s*true)\b`),
		allow:   re(`#!?\[\s*(?:allow|expect)\(|#!?\[\s*cfg_attr\([^\]]*\ballow\(`),
	}
}

func java() *language {
	return &language{
		ext: []string{".java", ".kt", ".kts", ".groovy", ".scala"}, line: "//", block: true, quotes: `"'`,
		isTest:  re(`(?:^|/)src/(?:test|androidTest|integrationTest|it)/|(?:^|/)(?:Test\w*|\w*(?:Tests?|IT|TestCase|Spec))\.(?:java|kts?|groovy|scala)$`),
		declare: re("^\\s*(?:@\\w+(?:\\([^)]*\\))?\\s+)*(?:(?:public|protected|private|static|final|suspend|override|open)\\s+)*(?:fun\\s+(?:`([^`]*)`|(\\w+))|\\w[\\w<>\\[\\], .?]*\\s+(\\w+))\\s*\\("),
		call:    re(`^\s*(?:return|new|throw|else|if|for|while|switch|catch|assert|yield)\b`),
		mark:    re(`^\s*@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b`),
		skip:    re(`@Disabled\w*|@Ignore\b|@EnabledIf\w*|@EnabledOn\w*|\bassum(?:e|ing)(?:That|True|False|NotNull)?\(|\bAssum(?:e|ptions)\.\w+\(|\benabled\s*=\s*false\b`),
		assert:  re(`\bassert\w*\(|\b(?:Assert|Assertions)\.\w+\(|\bverify(?:NoMoreInteractions|NoInteractions)?\(|^\s*assert\s|\bfail\(|\bshould(?:Be|Equal|Throw)\b|\bexpectThat\(`),
		exact:   re(`\bassert(?:Equals|ArrayEquals|IterableEquals|LinesMatch|Same|Throws|ThrowsExactly)\(|\.(?:isEqualTo|isSameAs|containsExactly\w*|hasSize|hasMessage|isExactlyInstanceOf)\(|\b(?:equalTo|is)\(|\bshouldBe\b`),
		inexact: re(`\b(?:any|anyString|anyInt)\(\)`),
		loose:   re(`\bassert(?:True|False|NotNull|NotEquals|DoesNotThrow|InstanceOf)\(|\.(?:isNotNull|isNotEmpty|isTrue|isFalse|contains|isInstanceOf|isPositive|isPresent|isNotEqualTo|matches)\(|\b(?:notNullValue|containsString|anything)\(|\bverify\(\w+\)\.\w+\(\s*any\w*\(`),
		idle:    re(`\bassertTrue\(\s*(?:"[^"]*",\s*)?true\s*[,)]|\bassertEquals\(\s*(?:1,\s*1|true,\s*true)\s*\)|\bassertThat\(\s*true\s*\)\.isTrue\(\)`),
		silence: re(`\bNOSONAR\b|\bCHECKSTYLE[:.](?:OFF|SUPPRESS)|\bnoinspection\b|\bNOPMD\b|\bktlint-disable\b`),
		allow:   re(`@(?:file:)?Suppress(?:Warnings|FBWarnings)?\b`),
	}
}

// Of the following only what keeps their linters quiet is known, and what files
// with tests are called.

func ruby() *language {
	return &language{
		ext: []string{".rb"}, line: "#", quotes: `"'`, isTest: re(`_(?:test|spec)\.rb$`),
		silence: re(`\brubocop:disable\b|:nocov:`),
	}
}

func shell() *language {
	return &language{
		ext: []string{".sh", ".bash"}, line: "#", quotes: `"'`, isTest: re(`(?:^|/)tests?/|[_-]test\.(?:ba)?sh$`),
		silence: re(`\bshellcheck disable\b`),
	}
}

func c() *language {
	return &language{
		ext: []string{".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".cs", ".php", ".swift"}, line: "//", block: true, quotes: `"'`,
		isTest:  re(`(?:^|/)tests?/|(?:_test|_unittest)\.\w+$|Tests?\.(?:cs|php|swift|cpp)$`),
		silence: re(`\bNOLINT(?:NEXTLINE|BEGIN)?\b|@phpstan-ignore|@psalm-suppress|\bswiftlint:disable\b|\bcppcheck-suppress\b`),
		allow:   re(`^\s*#pragma\s+(?:warning\s*\(?\s*disable|GCC diagnostic ignored|clang diagnostic ignored)|\[SuppressMessage\(`),
	}
}

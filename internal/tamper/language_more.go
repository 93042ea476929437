package tamper

func rust() *language {
	return &language{
		ext: []string{".rs"}, line: "//", block: true, quotes: `"`, spans: []span{{`r#"`, `"#`, true}},
		// Unit tests stand in the files that they test.
		isTest:   re(`\.rs$`),
		collects: re(`(?:^|/)tests/(?:[^/]+|[^/]+/main)\.rs$|(?:^|/)(?:src|benches|examples)/`),
		declare:  re(`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?fn\s+(\w+)`),
		mark:     re(`^\s*#\[(?:\w+::)*(?:test|rstest|test_case|wasm_bindgen_test|bench)\b`),
		begin:    re(`\|[^|]*\|\s*(?:->\s*[^{]+)?\{\s*$`),
		only:     re(`^#\[cfg\(test\)\]`),
		module:   re(`^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*[;{]`),
		skip:     re(`#\[\s*ignore\b|#\[\s*cfg_attr\([^\]]*\bignore\b|#!?\[\s*cfg\((?:any\(\)|not\(test\)|(?:FALSE|false|feature|target_\w+|windows|unix|debug_assertions|all|any|not)\b)|^\s*if\s+false\b`),
		sweep:    re(`\bprocess::exit\(0\)`),
		shadow:   re(`\bmacro_rules!\s*(?:assert\w*|panic)\b`),
		leave:    re(`^\s*(?:return(?:\s+Ok\(\(\)\))?|continue)\s*;\s*$|\{\s*return\s*;?\s*\}`),
		catch:    re(`\bcatch_unwind\b`),
		assert:   re(`\b(?:debug_)?assert(?:_eq|_ne|_matches)?!|\b(?:panic|unreachable)!\(|#\[\s*should_panic\b|\bassert_\w+!`),
		exact:    re(`\bassert_eq!|\bassert!\(.*==|\bassert_matches!|should_panic\(expected`),
		inexact:  re(`\|\|\s*true\b`),
		loose:    re(`\bassert!\(|\bassert_ne!|#\[\s*should_panic\s*\]`),
		idle:     re(`\bassert!\(\s*true\b|\|\|\s*true\b|\btrue\s*\|\|`),
		speak:    re(`\be?print(?:ln)?!|\bdbg!|^\s*(?:pub\s+)?(?:use|mod)\b`),
		allow:    re(`#!?\[\s*(?:allow|expect)\(|#!?\[\s*cfg_attr\([^\]]*\ballow\(`),
	}
}

func java() *language {
	return &language{
		ext: []string{".java", ".kt", ".kts", ".groovy", ".scala"}, line: "//", block: true, quotes: `"'`, spans: []span{{`"""`, `"""`, true}},
		isTest:   re(`(?:^|/)src/(?:test|androidTest|integrationTest|it)/|(?:^|/)(?:Test\w*|\w*(?:Tests?|IT|TestCase|Spec))\.(?:java|kts?|groovy|scala)$`),
		collects: re(`(?:^|/)src/(?:test|androidTest|integrationTest|it)/(?:.*/)?(?:Test\w*|\w*(?:Tests?|TestCase|IT|ITCase|Spec))\.(?:java|kts?|groovy|scala)$`),
		declare:  re("^\\s*(?:@\\w+(?:\\([^)]*\\))?\\s+)*(?:(?:public|protected|private|static|final|suspend|override|open)\\s+)*(?:fun\\s+(?:`([^`]*)`|(\\w+))|\\w[\\w<>\\[\\], .?]*\\s+(\\w+))\\s*\\("),
		call:     re(`^\s*(?:return|new|throw|else|if|for|while|switch|catch|assert|yield)\b|;\s*$`),
		mark:     re(`^\s*@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b`),
		begin:    re(`->\s*\{\s*$|\{\s*[\w, ]*->\s*$`),
		skip:     re(`@Disabled\w*|@Ignore\b|@EnabledIf\w*|@EnabledOn\w*|\bassum(?:e|ing)(?:That|True|False|NotNull)?\(|\bAssum(?:e|ptions)\.\w+\(|\benabled\s*=\s*false\b|^\s*if\s*\(\s*false\s*\)|^\s*(?:public\s+)?abstract\s+class\s+\w*Test\w*`),
		unrun:    re(`^\s*(?:@\w+\s+)*(?:private|static|abstract)\b|^\s*(?:@\w+\s+)*\w+\s+(?:private|static|abstract)\b`),
		shadow:   re(`\bstatic\s+void\s+(?:assert(?:Equals|True|False|That|Same|NotNull|Throws)|fail)\s*\(|\bfun\s+assert(?:Equals|True|False|That)\s*\(`),
		sweep:    re(`\bSystem\.exit\(0\)|\.halt\(0\)|\bexitProcess\(0\)`),
		leave:    re(`^\s*(?:if\s*\(.*\)\s*)?\{?\s*(?:return(?:\s+(?:null|true|Unit))?|continue)\s*;?\s*\}?\s*$`),
		catch:    re(`\bcatch\s*\([^)]*\b(?:Throwable|Error|AssertionError|AssertionFailedError|ComparisonFailure)\b|\brunCatching\b|\bassertThrows\(\s*(?:Throwable|Error|AssertionError)\b|\bexpected\s*=\s*(?:Throwable|Error|AssertionError)\b`),
		assert:   re(`\bassert\w*\(|\b(?:Assert|Assertions)\.\w+\(|\bverify(?:NoMoreInteractions|NoInteractions)?\(|^\s*assert\s|\bfail\(|\bshould(?:Be|Equal|Throw)\b|\bexpectThat\(`),
		exact:    re(`\bassert(?:Equals|ArrayEquals|IterableEquals|LinesMatch|Same|Throws|ThrowsExactly)\(|\.(?:isEqualTo|isSameAs|containsExactly\w*|hasSize|hasMessage|isExactlyInstanceOf)\(|\b(?:equalTo|is)\(|\bshouldBe\b`),
		inexact:  re(`\b(?:any|anyString|anyInt)\(\)`),
		loose:    re(`\bassert(?:True|False|NotNull|NotEquals|DoesNotThrow|InstanceOf)\(|\.(?:isNotNull|isNotEmpty|isTrue|isFalse|contains|isInstanceOf|isPositive|isPresent|isNotEqualTo|matches)\(|\b(?:notNullValue|containsString|anything)\(|\bverify\(\w+\)\.\w+\(\s*any\w*\(`),
		idle:     re(`\bassertTrue\(\s*(?:"[^"]*",\s*)?true\s*[,)]|\bassertThat\(\s*true\s*\)\.isTrue\(\)|\|\|\s*true\b|\btrue\s*\|\|`),
		speak:    re(`\bSystem\.(?:out|err)\.|\blog(?:ger)?\.\w+\(|\bprintln\(|^\s*(?:import|package)\b`),
		silence:  re(`\bNOSONAR\b|\bCHECKSTYLE[:.](?:OFF|SUPPRESS)|\bnoinspection\b|\bNOPMD\b|\bktlint-disable\b`),
		allow:    re(`@(?:file:)?Suppress(?:Warnings|FBWarnings)?\b`),
	}
}

func ruby() *language {
	return &language{
		ext: []string{".rb"}, line: "#", quotes: `"'`, spans: []span{{"=begin", "=end", false}},
		isTest:   re(`_(?:test|spec)\.rb$|(?:^|/)test_[^/]*\.rb$|(?:^|/)(?:spec|rails|test)_helper\.rb$`),
		collects: re(`_(?:test|spec)\.rb$|(?:^|/)test_[^/]*\.rb$`),
		declare: re(`^\s*(?:RSpec\.)?[xf]?(?:it|specify|test|describe|context|feature|scenario)\s*\(?\s*(?:"([^"]*)"|'([^']*)')` +
			`|^\s*def\s+(test_\w+)|^\s*class\s+(\w+)\s*<\s*\S*Test\w*\b`),
		begin:   re(`^\s*def\b|\bdo\b\s*(?:\|[^|]*\|)?\s*$`),
		skip:    re(`^\s*(?:x|f)(?:it|describe|context|specify|scenario)\b|^\s*(?:skip|pending)\b|,\s*:?(?:skip|pending|focus)\b|^\s*if\s+false\b|^\s*unless\s+true\b`),
		sweep:   re(`^\s*exit!?\s*(?:\(?\s*(?:0|true)?\s*\)?)?\s*$|\bat_exit\b|\bKernel\.exit\b|\.filter_run_excluding\b`),
		shadow:  re(`^\s*def\s+(?:assert|assert_equal|refute|expect|eq)\b`),
		leave:   re(`^\s*(?:return|next)(?:\s+(?:if|unless)\b.*)?\s*$`),
		catch:   re(`^\s*rescue\b`),
		assert:  re(`\bexpect\b|\bassert\w*\b|\brefute\w*\b|\b(?:must|wont)_\w+|\.should\b`),
		exact:   re(`\.to\s+(?:eq|eql|equal|match_array|contain_exactly)\b|\bassert_(?:equal|same|nil|in_delta|raises)\b|\bmust_equal\b`),
		loose:   re(`\.to\s+(?:be_truthy|be_falsey|be_present|be_an?|include|match|be)\b|\.(?:not_to|to_not)\b|\bassert(?:_includes|_match|_kind_of|_respond_to|_not_nil)?[ (]`),
		idle:    re(`\bexpect\(\s*(?:true|1)\s*\)\.to\s+be_truthy|^\s*assert\s*\(?\s*true\b|\|\|\s*true\b`),
		speak:   re(`^\s*(?:puts|p|print|require\w*)\b`),
		silence: re(`\brubocop:disable\b|:nocov:`),
	}
}

func php() *language {
	return &language{
		ext: []string{".php"}, line: "//", block: true, quotes: `"'`,
		isTest:   re(`Tests?\.php$|(?:^|/)tests?/`),
		collects: re(`Test\.php$`),
		declare:  re(`^\s*(?:(?:public|protected|private|static|final)\s+)*function\s+(test\w*)\s*\(|^\s*(?:it|test)\(\s*(?:"([^"]*)"|'([^']*)')`),
		begin:    re(`\bfunction\b`),
		skip:     re(`\bmarkTest(?:Skipped|Incomplete)\(|->(?:skip|todo)\(|^\s*if\s*\(\s*false\s*\)`),
		sweep:    re(`^\s*(?:exit|die)\b`),
		leave:    re(`^\s*(?:if\s*\(.*\)\s*)?\{?\s*(?:return|continue)\s*;\s*\}?\s*$`),
		catch:    re(`\bcatch\s*\([^)]*\b(?:Throwable|AssertionFailedError|ExpectationFailedException|Exception)\b`),
		assert:   re(`(?:->|::)(?:assert|expect)\w*\(|\bexpect\(`),
		exact:    re(`(?:->|::)assert(?:Same|Equals|Count|SameSize)\(|->(?:toBe|toEqual)\(`),
		loose:    re(`(?:->|::)assert(?:True|False|Not\w+|Is\w+|Contains|Greater\w*|Less\w*|InstanceOf)\(|->toBe(?:Truthy|True)\(`),
		idle:     re(`(?:->|::)assertTrue\(\s*true\s*\)|\|\|\s*true\b`),
		speak:    re(`^\s*(?:echo|use|namespace|require\w*)\b`),
		silence:  re(`@phpstan-ignore|@psalm-suppress|\bphpcs:(?:ignore|disable)\b`),
	}
}

func csharp() *language {
	return &language{
		ext: []string{".cs"}, line: "//", block: true, quotes: `"'`,
		isTest:  re(`(?:^|/)[^/]*Tests?(?:\.[^/]*)?/|Tests?\.cs$|(?:^|/)tests?/`),
		declare: re(`^\s*(?:(?:public|private|internal|static|async|override)\s+)+[\w<>\[\],.? ]+\s+(\w+)\s*\(`),
		call:    re(`^\s*(?:return|new|throw|else|if|for|foreach|while|switch|catch|await|using)\b|;\s*$`),
		mark:    re(`^\s*\[(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b`),
		begin:   re(`=>\s*\{?\s*$`),
		skip:    re(`\bSkip\s*=|\[Ignore\b|\bAssert\.(?:Inconclusive|Ignore|Pass)\(|^#if\s+(?:false|NEVER)\b|^\s*if\s*\(\s*false\s*\)`),
		sweep:   re(`\bEnvironment\.Exit\(0\)`),
		leave:   re(`^\s*(?:if\s*\(.*\)\s*)?\{?\s*(?:return|continue)\s*;\s*\}?\s*$`),
		catch:   re(`\bcatch\b`),
		assert:  re(`\bAssert\.\w+|\.Should\(\)|\bVerify\w*\(`),
		exact:   re(`\bAssert\.(?:Equal|AreEqual|Same|AreSame|Throws|Single)\w*|\.Should\(\)\.(?:Be|Equal|BeEquivalentTo)\(`),
		loose:   re(`\bAssert\.(?:True|IsTrue|False|NotNull|IsNotNull|NotEqual|Contains|NotEmpty|IsType)\w*|\.Should\(\)\.(?:NotBeNull|NotBeEmpty|BeTrue|Contain)\(`),
		idle:    re(`\bAssert\.(?:True|IsTrue)\(\s*true\b|\|\|\s*true\b`),
		speak:   re(`\bConsole\.Write|^\s*(?:using|namespace)\b`),
		silence: re(`\bReSharper disable\b`),
		allow:   re(`^\s*#pragma\s+warning\s+disable|\[(?:assembly:\s*)?SuppressMessage\(`),
	}
}

func shell() *language {
	return &language{
		ext: []string{".sh", ".bash", ".bats"}, line: "#", quotes: `"'`, isTest: re(`(?:^|/)tests?/|[_-]test\.(?:ba)?sh$|\.bats$`),
		collects: re(`\.bats$`),
		declare:  re(`^\s*@test\s+(?:"([^"]*)"|'([^']*)')|^\s*(?:function\s+)?(test\w*)\s*\(\)`),
		begin:    re(`^\s*(?:function\s+)?\w+\s*\(\)`),
		skip:     re(`^\s*skip\b`),
		leave:    re(`^\s*(?:return|exit)(?:\s+0)?\s*$`),
		assert:   re(`\bassert\w*\b|^\s*(?:test|\[\[?)\s`),
		exact:    re(`^\s*(?:test|\[\[?)\s.*(?:\s=\s|==|\s-eq\s)|\bassert_(?:equal|output|line)\b`),
		speak:    re(`^\s*(?:echo|printf)\b`),
		silence:  re(`\bshellcheck disable\b`),
	}
}

func c() *language {
	return &language{
		ext: []string{".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".swift"}, line: "//", block: true, quotes: `"'`,
		isTest:  re(`(?:^|/)tests?/|(?:_test|_unittest)\.\w+$|Tests?\.(?:swift|cpp)$`),
		declare: re(`^\s*(?:TYPED_)?TEST(?:_F|_P|_CASE)?\(\s*([^)]*)\)|^\s*(?:\w+\s+)*func\s+(test\w*)\s*\(|^(?:static\s+)?(?:void|int)\s+(test\w*)\s*\(`),
		begin:   re(`^[\w*&<>: ]+\([^;]*$|\bfunc\s`),
		skip:    re(`\bGTEST_SKIP\(|\bDISABLED_|\bXCTSkip\w*|^\s*#\s*if\s+0\b|^\s*if\s*\(\s*(?:false|0)\s*\)`),
		sweep:   re(`\b(?:_exit|exit|_Exit|quick_exit)\(\s*0\s*\)`),
		shadow:  re(`^\s*#\s*(?:define\s+(?:(?:EXPECT|ASSERT|CHECK|REQUIRE)\w*\(|assert\(|NDEBUG\b)|undef\s+assert\b)`),
		leave:   re(`^\s*(?:if\s*\(.*\)\s*)?\{?\s*(?:return(?:\s+0)?|continue)\s*;\s*\}?\s*$`),
		catch:   re(`\bcatch\s*\(\s*\.\.\.`),
		assert:  re(`\b(?:EXPECT|ASSERT|CHECK|REQUIRE)(?:_\w+)?\(|\bassert\w*\(|\bXCTAssert\w*\(|\bck_assert\w*\(`),
		exact:   re(`\b(?:EXPECT|ASSERT)_(?:EQ|STREQ|DOUBLE_EQ|FLOAT_EQ|THAT)\(|\bXCTAssertEqual\(|\bassert\(.*==|\b(?:CHECK|REQUIRE)\(.*==|\bck_assert_\w+_eq\(`),
		loose:   re(`\b(?:EXPECT|ASSERT)_(?:TRUE|FALSE|NE|GT|GE|LT|LE)\(|\bXCTAssert(?:True|NotNil|False)?\(|\bassert\(|\b(?:CHECK|REQUIRE)\(`),
		idle:    re(`\b(?:EXPECT|ASSERT)_TRUE\(\s*(?:true|1)\s*\)|\bassert\(\s*(?:1|true)\s*\)|\|\|\s*(?:1|true)\b`),
		speak:   re(`\bf?printf\(|\bstd::c(?:out|err)\b|^\s*(?:#include|import)\b`),
		silence: re(`\bNOLINT(?:NEXTLINE|BEGIN)?\b|\bswiftlint:disable\b|\bcppcheck-suppress\b`),
		allow:   re(`^\s*#pragma\s+(?:GCC diagnostic ignored|clang diagnostic ignored|warning\s*\(\s*disable)`),
	}
}

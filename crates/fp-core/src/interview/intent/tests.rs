use super::*;

#[test]
fn intents_by_their_words() {
    use Intent::{Architecture, BuildFromScratch, MidSized, Refactoring, Trivial};
    let check = |goal: &str, intent: Intent, because: Option<&str>| {
        assert_eq!(classify(goal), Classified { intent, because: classify(goal).because }, "{goal:?}");
        assert_eq!(classify(goal).because, because, "{goal:?}");
    };
    check("Fix a typo in the architecture page", Trivial, Some("typo"));
    check("Update the README", Trivial, Some("readme"));
    check("Change the button's color to blue", Trivial, Some("color"));
    check("bump the version to 2.0.1", Trivial, Some("version"));
    check("로그인 버튼 문구를 수정해 줘", Trivial, Some("문구"));
    check("오타 수정", Trivial, Some("오타"));

    check("Add color themes to the editor", MidSized, None);
    check("Add a comments section and change the icon", MidSized, None);
    check("add a greeting command", MidSized, None);
    check("Add JWT auth", MidSized, None);
    check("fix the crash when the list is empty", MidSized, None);
    check("Add find and replace", MidSized, None);
    check("Create a blog post page", MidSized, None);
    check("make the app faster", MidSized, None);
    check("사용자 프로필 화면을 추가해 줘", MidSized, None);
    check("Añadir búsqueda", MidSized, None);
    check("🎉", MidSized, None);

    check("Refactor the payment module", Refactoring, Some("refactor"));
    check("clean up the helpers in src/util", Refactoring, Some("clean up"));
    check("Replace moment with date-fns", Refactoring, Some("replace"));
    check("Migrate from Jest to Vitest", Refactoring, Some("migrate"));
    check("결제 모듈 리팩터링", Refactoring, Some("리팩터"));
    check("중복 제거하고 코드 정리", Refactoring, Some("코드 정리"));

    check("Build a todo app", BuildFromScratch, Some("app"));
    check("Create a command line tool that renames photos", BuildFromScratch, Some("tool"));
    check("write an API for orders, from scratch", BuildFromScratch, Some("from scratch"));
    check("Scaffold the frontend", BuildFromScratch, Some("scaffold"));
    check("날씨 앱을 만들어 줘", BuildFromScratch, Some("앱을 만들"));

    check("Split the monolith into services", Architecture, Some("monolith"));
    check("design an event-driven order flow", Architecture, Some("event driven"));
    check("Add multi-tenancy", Architecture, Some("multi tenan"));
    check("마이크로서비스로 전환", Architecture, Some("마이크로서비스"));
}

#[test]
fn much_is_never_trivial() {
    let long = format!("Fix the typo, {}", "and then another thing, ".repeat(10));
    assert_eq!(classify(&long).intent, Intent::MidSized);
    assert_eq!(classify("Fix:\n- a typo\n- the login").intent, Intent::MidSized);
    assert_eq!(classify(&"word ".repeat(1_000_000)).intent, Intent::MidSized);
}

#[test]
fn items_of_a_list_are_counted() {
    let check = |goal: &str, expect: usize| assert_eq!(list_items(goal), expect, "{goal:?}");
    check("one line - with a dash", 0);
    check("Do:\n- a\n* b\n  • c\n1. d\n12) e\n3.5 is a number\n-x", 5);
}

#[test]
fn no_other_intent() {
    assert_eq!(
        "small".parse::<Intent>().unwrap_err().to_string(),
        "an intent is one of trivial, refactoring, build-from-scratch, mid-sized, architecture"
    );
}

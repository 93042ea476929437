/*
 * Prints what differs from HEAD in the work tree of a repository, untracked
 * files with their content, as libgit2 finds it.
 */
#include <git2.h>
#include <stdio.h>

static int print(const git_diff_delta *delta, const git_diff_hunk *hunk,
		 const git_diff_line *line, void *payload)
{
	(void)delta;
	(void)hunk;
	(void)payload;
	if (line->origin == GIT_DIFF_LINE_CONTEXT ||
	    line->origin == GIT_DIFF_LINE_ADDITION ||
	    line->origin == GIT_DIFF_LINE_DELETION)
		putchar(line->origin);
	fwrite(line->content, 1, line->content_len, stdout);
	return 0;
}

static int check(int error)
{
	if (error < 0) {
		const git_error *e = git_error_last();
		fprintf(stderr, "libgit2: %s\n", e ? e->message : "unknown error");
	}
	return error;
}

int main(int argc, char **argv)
{
	git_repository *repo = NULL;
	git_object *tree = NULL;
	git_diff *diff = NULL;
	git_diff_options options = GIT_DIFF_OPTIONS_INIT;
	int failed;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	options.flags = GIT_DIFF_INCLUDE_UNTRACKED |
			GIT_DIFF_RECURSE_UNTRACKED_DIRS |
			GIT_DIFF_SHOW_UNTRACKED_CONTENT |
			GIT_DIFF_INCLUDE_TYPECHANGE;
	git_libgit2_init();
	failed = check(git_repository_open(&repo, argv[1])) < 0 ||
		 check(git_revparse_single(&tree, repo, "HEAD^{tree}")) < 0 ||
		 check(git_diff_tree_to_workdir_with_index(&diff, repo, (git_tree *)tree, &options)) < 0 ||
		 check(git_diff_print(diff, GIT_DIFF_FORMAT_PATCH, print, NULL)) < 0;
	git_diff_free(diff);
	git_object_free(tree);
	git_repository_free(repo);
	git_libgit2_shutdown();
	return failed;
}

package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"codeloops/internal/lesson"
)

// vectors creates what pgvector needs. Vectors may have any number of dimensions, because a team
// may change its model.
const vectors = `
SELECT pg_advisory_xact_lock(7238946);
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE IF NOT EXISTS codeloops_lesson_vectors (
	lesson text NOT NULL REFERENCES codeloops_lessons ON DELETE CASCADE, space text NOT NULL, meaning vector NOT NULL,
	PRIMARY KEY (lesson, space)
);`

var _ lesson.Comparer = &Store{}

// Compares implements [lesson.Comparer]. It returns false if the server lacks pgvector, or if it
// is not set up and this user may not do that.
func (s *Store) Compares(ctx context.Context) (bool, error) {
	there, err := s.run(ctx, "SELECT to_regclass('codeloops_lesson_vectors') IS NOT NULL, EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')")
	if err != nil {
		return false, err
	}
	made, able := string(there.Rows[0][0]) == "t", string(there.Rows[0][1]) == "t"
	if made || !able {
		return made, nil
	}
	_, err = s.conn.Exec(ctx, vectors).ReadAll()
	if _, refused := errors.AsType[*pgconn.PgError](err); refused {
		return false, nil
	}
	return err == nil, err
}

// Lacking implements [lesson.Comparer].
func (s *Store) Lacking(ctx context.Context, space string, q lesson.Query, most int) ([]lesson.Lesson, error) {
	return s.list(ctx, `
WHERE project IN ('', $1) AND NOT EXISTS (SELECT FROM codeloops_lesson_vectors AS v WHERE v.lesson = l.id AND v.space = $2)
ORDER BY learned DESC LIMIT $3::integer`, q.Project, space, strconv.Itoa(most))
}

// Place implements [lesson.Comparer]. Lessons that no longer exist are skipped.
func (s *Store) Place(ctx context.Context, space string, vectors map[string][]float32) error {
	return s.inTransaction(ctx, func() error {
		for id, v := range vectors {
			_, err := s.run(ctx, `
INSERT INTO codeloops_lesson_vectors (lesson, space, meaning) SELECT id, $2, $3::vector FROM codeloops_lessons WHERE id = $1
ON CONFLICT DO NOTHING`, id, space, text(v))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Nearest implements [lesson.Comparer] by cosine, among vectors with a positive cosine. There is
// a reserve of matches, because some may have stopped helping.
func (s *Store) Nearest(ctx context.Context, space string, to []float32, q lesson.Query) ([]lesson.Lesson, error) {
	ranked, err := s.list(ctx, `
, LATERAL (
	SELECT CASE WHEN vector_dims(v.meaning) = $3::integer THEN v.meaning <=> $4::vector END AS apart
	FROM codeloops_lesson_vectors AS v WHERE v.lesson = l.id AND v.space = $2
) AS near
WHERE project IN ('', $1) AND apart < 1 ORDER BY apart, learned DESC LIMIT 200`, q.Project, space, strconv.Itoa(len(to)), text(to))
	return q.Pick(ranked), err
}

// text formats a vector for pgvector.
func text(v []float32) string {
	var b strings.Builder
	for i, x := range v {
		b.WriteByte("[,"[min(i, 1)])
		b.WriteString(strconv.FormatFloat(float64(x), 'g', -1, 32))
	}
	return b.String() + "]"
}

// Package postgres keeps lessons in a database that a team shares.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"codeloops/internal/lesson"
)

// schema creates the tables. The lock lets only one of several clients do so.
const schema = `
SELECT pg_advisory_xact_lock(7238946);
CREATE TABLE IF NOT EXISTS codeloops_lessons (
	id text PRIMARY KEY, task text NOT NULL, lesson text NOT NULL, project text NOT NULL,
	session text NOT NULL, attempt integer NOT NULL, learned timestamptz NOT NULL,
	words tsvector GENERATED ALWAYS AS (to_tsvector('english', task || ' ' || lesson)) STORED
);
CREATE INDEX IF NOT EXISTS codeloops_lessons_words ON codeloops_lessons USING gin (words);
CREATE TABLE IF NOT EXISTS codeloops_lesson_uses (
	lesson text NOT NULL, session text NOT NULL, done boolean NOT NULL, PRIMARY KEY (lesson, session)
);`

// A Store is a [lesson.Store] in a PostgreSQL database, version 12 or later.
type Store struct{ conn *pgconn.PgConn }

var _ lesson.Store = &Store{}

// Open connects to the database at a URL. Settings that it lacks come from the variables and
// files that psql reads, such as PGPASSWORD and ~/.pgpass.
func Open(ctx context.Context, url string) (*Store, error) {
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("lessons: %w", err) // the error does not contain the password
	}
	s := &Store{conn}
	// A user who may write to the tables may lack the right to create them.
	there, err := s.run(ctx, "SELECT to_regclass('codeloops_lessons') IS NOT NULL AND to_regclass('codeloops_lesson_uses') IS NOT NULL")
	if err == nil && string(there.Rows[0][0]) != "t" {
		_, err = conn.Exec(ctx, schema).ReadAll()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lessons: %w", err), s.Close()) //nolint:contextcheck // the connection is closed properly even if the context is done
	}
	return s, nil
}

// Close implements [lesson.Store].
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx) // everything is committed
	return nil
}

// run runs a statement with text arguments.
func (s *Store) run(ctx context.Context, statement string, args ...string) (*pgconn.Result, error) {
	values := make([][]byte, len(args))
	for i, arg := range args {
		values[i] = []byte(arg)
	}
	r := s.conn.ExecParams(ctx, statement, values, nil, nil, nil).Read()
	return r, r.Err
}

// list returns the lessons that match a condition.
func (s *Store) list(ctx context.Context, conditionAndOrder string, args ...string) (all []lesson.Lesson, err error) {
	r, err := s.run(ctx, `
SELECT task, lesson, project, session, attempt, extract(epoch FROM learned)::bigint, done, failed
FROM codeloops_lessons AS l, LATERAL (
	SELECT count(*) FILTER (WHERE u.done) AS done, count(*) FILTER (WHERE NOT u.done) AS failed FROM codeloops_lesson_uses AS u WHERE u.lesson = l.id
) AS uses `+conditionAndOrder, args...)
	if err != nil {
		return nil, err
	}
	for _, row := range r.Rows {
		var numbers [4]int64 // attempt, learned, done, failed
		for i, field := range row[4:] {
			if numbers[i], err = strconv.ParseInt(string(field), 10, 64); err != nil {
				return nil, err
			}
		}
		l := lesson.Lesson{
			Task: string(row[0]), Text: string(row[1]), Project: string(row[2]), Session: string(row[3]),
			Attempt: int(numbers[0]), At: time.Unix(numbers[1], 0).UTC(), Uses: lesson.Uses{Done: int(numbers[2]), Failed: int(numbers[3])},
		}
		if l, err := l.Clean(nil); err == nil { // others wrote it
			all = append(all, l)
		}
	}
	return all, nil
}

// All implements [lesson.Store].
func (s *Store) All(ctx context.Context) ([]lesson.Lesson, error) {
	return s.list(ctx, "ORDER BY learned, id")
}

// Recall implements [lesson.Store].
func (s *Store) Recall(ctx context.Context, q lesson.Query) ([]lesson.Lesson, error) {
	if q.Block {
		all, err := s.All(ctx)
		return q.Pick(all), err
	}
	// One word of the task is enough for a match. There is a reserve of matches, because some may
	// have stopped helping.
	ranked, err := s.list(ctx, `
, (SELECT replace(plainto_tsquery('english', $1)::text, '&', '|')::tsquery AS asked) AS question
WHERE project IN ('', $2) AND words @@ asked ORDER BY ts_rank_cd(words, asked, 1) DESC, learned DESC LIMIT 200`, q.Task, q.Project)
	return q.Pick(ranked), err
}

// Add implements [lesson.Store].
func (s *Store) Add(ctx context.Context, lessons ...lesson.Lesson) (added int, err error) {
	return added, s.inTransaction(ctx, func() error {
		for _, l := range lessons {
			r, err := s.run(ctx, `
INSERT INTO codeloops_lessons (id, task, lesson, project, session, attempt, learned)
VALUES ($1, $2, $3, $4, $5, $6::integer, to_timestamp($7::bigint)) ON CONFLICT DO NOTHING`,
				l.ID(), l.Task, l.Text, l.Project, l.Session, strconv.Itoa(l.Attempt), strconv.FormatInt(l.At.Unix(), 10))
			if err != nil {
				return err
			}
			added += int(r.CommandTag.RowsAffected())
		}
		return nil
	})
}

// Remove implements [lesson.Store].
func (s *Store) Remove(ctx context.Context, ids ...string) (removed int, err error) {
	return removed, s.inTransaction(ctx, func() error {
		for _, id := range ids {
			r, err := s.run(ctx, "DELETE FROM codeloops_lessons WHERE id = $1", id)
			if err != nil {
				return err
			}
			removed += int(r.CommandTag.RowsAffected())
		}
		return nil
	})
}

// Used implements [lesson.Store].
func (s *Store) Used(ctx context.Context, session string, ids []string, done bool) error {
	return s.inTransaction(ctx, func() error {
		for _, id := range ids {
			_, err := s.run(ctx, `
INSERT INTO codeloops_lesson_uses (lesson, session, done) VALUES ($1, $2, $3::boolean)
ON CONFLICT (lesson, session) DO UPDATE SET done = excluded.done`, id, session, strconv.FormatBool(done))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// inTransaction makes a change in a transaction.
func (s *Store) inTransaction(ctx context.Context, change func() error) error {
	_, err := s.run(ctx, "BEGIN")
	if err == nil {
		err = change()
	}
	if err != nil {
		_, _ = s.run(ctx, "ROLLBACK") // the server does it in any case
		return err
	}
	_, err = s.run(ctx, "COMMIT")
	return err
}

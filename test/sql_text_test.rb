# frozen_string_literal: true

require "test_helper"
require "pelton/sql_text"

class SQLTextTest < PeltonTest
  def test_queries_without_their_values
    {sqlite: {"SELECT 1, 'it''s', \"c1\", $1 FROM t2 WHERE a IN (-1.5e3, X'00') AND b = 'unfinished" =>
                "SELECT ?, ?, \"c1\", $1 FROM t2 WHERE a IN (?, ?) AND b = ?",
              "SELECT \"it's\", `it's` FROM t -- it's\n WHERE a LIKE'x\\' AND b = 's3cret' /* it's" =>
                "SELECT \"it's\", `it's` FROM t \n WHERE a LIKE? AND b = ?",
              "SELECT 1 \"s3cret" => "SELECT ? ?"},
     postgres: {"SELECT $$a$$, $x$b'$x$, 'back\\', 's3cret'" => "SELECT ?, ?, ?, ?",
                "SELECT E'it\\'s s3cret', e'\\\\', 's3cret'" => "SELECT ?, ?, ?"},
     mysql: {"SELECT `c1` FROM t WHERE a = \"dq\" AND b = 's\\'3cret' AND c = 'x''y'" => "SELECT `c1` FROM t WHERE a " \
       "= ? AND b = ? AND c = ?",
             "SELECT `it's`, 's3cret' # it's\n FROM t WHERE a = 's3cret'" => "SELECT `it's`, ? \n FROM t WHERE a = ?"},
     oracle: {
       "SELECT a FROM t WHERE b = 3 AND c = 's\\'3cret' AND d = 4" => "SELECT a FROM t WHERE b = ? AND c = ?"
     }}.each do |type, texts|
      texts.each { |sql, shown| assert_equal shown, Pelton::SQLText.without_values(sql, type) }
    end
  end

  def test_long_and_invalid_ones
    assert_equal "SELECT ?", Pelton::SQLText.without_values("SELECT '#{"\xFF" * 5_000_000}'", "sqlite")
    assert_equal "SEL", Pelton::SQLText.without_values("SELECT 1", "sqlite", limit: 3)
  end

  def test_messages_of_servers
    {"PG::UniqueViolation: ERROR:  duplicate key value violates unique constraint \"users_token_key\"\n" \
       "DETAIL:  Key (token)=(s3cret) already exists.\n" =>
       "PG::UniqueViolation: ERROR:  duplicate key value violates unique constraint ?",
     "1062: Duplicate entry 's3'cret' for key 'users.token'" => "1062: Duplicate entry ?",
     "UNIQUE constraint failed: users.token" => "UNIQUE constraint failed: users.token",
     "near 's3cret\nand more'" => "near ?", "\xFF" => "?"}.each do |message, shown|
       assert_equal shown, Pelton::SQLText.message_without_values(message)
     end
  end
end

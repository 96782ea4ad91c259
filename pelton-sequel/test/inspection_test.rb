# frozen_string_literal: true

require_relative "support/sequel_databases"

class InspectionTest < PeltonTest
  include SequelDatabases

  def setup
    @database = connect
    @database.create_table(:people) do
      primary_key :id
      String :email
    end
    @people = @database[:people]
  end

  def test_values_are_question_marks
    {@people.where(email: "secret") => "SELECT * FROM `people` WHERE (`email` = ?)",
     @people.where(email: %w[secret secret2]) => "SELECT * FROM `people` WHERE (`email` IN (?))",
     @people.where(Sequel.lit("email = ? OR email = 'secret'",
       "secret")) => "SELECT * FROM `people` WHERE (email = ? OR email = ?)",
     @people.where(id: @people.where(email: "secret").select(:id)) => "SELECT * FROM `people` WHERE (`id` IN (SELECT " \
       "`id` FROM `people` WHERE (`email` = ?)))",
     @people.where(email: nil).limit(5) => "SELECT * FROM `people` WHERE (`email` IS NULL) LIMIT ?",
     @database.fetch("SELECT ?", "secret") => "SELECT ?"}.each do |dataset, sql|
      # From Ruby 3.3 on, Sequel names the class differently
      assert_match(/\A#<[\w:]+: #{Regexp.escape(sql.inspect)}>\z/, dataset.inspect)
    end
  end

  def test_sql_keeps_them
    assert_includes @people.where(email: "secret").sql, "'secret'"
  end

  def test_a_model_s_datasets_have_them_neither
    model = Class.new(Sequel::Model) { set_dataset(:people) }

    refute_includes model.where(email: "secret").inspect, "secret"
  end
end

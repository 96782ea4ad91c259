# app/models/comment.rb
# frozen_string_literal: true

class Comment < Sequel::Model
  many_to_one :issue
  many_to_one :user

  # Attributes that forms may set.
  set_allowed_columns :text

  def validate
    super
    validates_presence [:text, :issue_id, :user_id]
    validates_max_length 10_000, :text, allow_nil: true
  end
end

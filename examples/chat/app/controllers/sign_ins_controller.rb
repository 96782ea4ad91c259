# frozen_string_literal: true

# Signs in and out. A wrong password and an unknown address get the same response, after the same time. The second
# limit counts by account, as only one spelling finds it. It also lets a stranger keep a user from signing in for an
# hour; devices that are signed in stay so.
class SignInsController < ApplicationController
  rate_limit to: 10, within: 180, only: :create, with: :answer_later
  rate_limit to: 20, within: 3600, only: :create,
    by: -> { User.normalize(params.require(:sign_in)[:email]) }, with: :answer_later

  def new
  end

  def create
    form = params.require(:sign_in).permit(:email, :password, :remember)
    user = User.authenticate(form[:email], form[:password])
    signed_in = user && sign_in(user, remember: form[:remember] == "1")
    return refuse("The address or the password is wrong.", 422) unless signed_in
    redirect_to after_sign_in_path
  end

  def destroy
    sign_out
    redirect_to root_path, notice: "You are signed out."
  end

  private

  def answer_later = refuse("That was too often. Try again later.", 429)

  def refuse(alert, status)
    @email = params.require(:sign_in)[:email].to_s
    flash.now[:alert] = alert
    render :new, status: status
  end
end
